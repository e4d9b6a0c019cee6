"""The official conformance suite, in the two protocol versions that CodePlane speaks.

A scenario passes when none of its checks fails or warns. What does not pass has to be in the tables below, and what
is in the tables has to exist and not to pass: an entry that nobody needs any more is a failure too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from tests.interaction.requirements import requirement

from .node import environment, run
from .running_server import RunningServer

VERSIONS: Final = ("2025-11-25", "2026-07-28")
# The check, made in every scenario, that what the server sent is valid by the specification's schema.
WIRE: Final = "wire-schema-valid"

NO_PROMPTS: Final = "CodePlane offers no prompts"
NO_COMPLETIONS: Final = "CodePlane offers no completions"
NO_LOGGING: Final = "CodePlane sends no log messages"
NO_SAMPLING: Final = "CodePlane never asks the client's model"
NO_ROOTS: Final = "CodePlane never asks for the client's roots"
NO_ELICITATION: Final = "CodePlane asks the client nothing during a call"
NO_SUBSCRIPTIONS: Final = "CodePlane offers no resource subscriptions"
TEXT_ONLY: Final = "CodePlane's operations answer in text"

NOT_APPLYING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "completion-complete": NO_COMPLETIONS,
        "elicitation-sep1034-defaults": NO_ELICITATION,
        "elicitation-sep1330-enums": NO_ELICITATION,
        "input-required-result-basic-elicitation": NO_ELICITATION,
        "input-required-result-basic-list-roots": NO_ROOTS,
        "input-required-result-basic-sampling": NO_SAMPLING,
        "input-required-result-capability-check": NO_SAMPLING,
        "input-required-result-ignore-extra-params": NO_ELICITATION,
        "input-required-result-missing-input-response": NO_ELICITATION,
        "input-required-result-multi-round": NO_ELICITATION,
        "input-required-result-multiple-input-requests": NO_SAMPLING,
        "input-required-result-non-tool-request": NO_PROMPTS,
        "input-required-result-request-state": NO_ELICITATION,
        "input-required-result-result-type": NO_ELICITATION,
        "input-required-result-tampered-state": NO_ELICITATION,
        "logging-set-level": NO_LOGGING,
        "prompts-get-embedded-resource": NO_PROMPTS,
        "prompts-get-simple": NO_PROMPTS,
        "prompts-get-with-args": NO_PROMPTS,
        "prompts-get-with-image": NO_PROMPTS,
        "prompts-list": NO_PROMPTS,
        "resources-subscribe": NO_SUBSCRIPTIONS,
        "resources-unsubscribe": NO_SUBSCRIPTIONS,
        "tools-call-audio": TEXT_ONLY,
        "tools-call-elicitation": NO_ELICITATION,
        "tools-call-embedded-resource": TEXT_ONLY,
        "tools-call-image": TEXT_ONLY,
        "tools-call-mixed-content": TEXT_ONLY,
        "tools-call-sampling": NO_SAMPLING,
        "tools-call-with-logging": NO_LOGGING,
    }
)

CHECKS_NOT_APPLYING: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("caching", "sep-2549-prompts-list-caching-hints"): NO_PROMPTS,
        ("server-stateless", "sep-2575-missing-capability-http-400"): NO_SAMPLING,
        ("server-stateless", "sep-2575-server-rejects-undeclared-capability"): NO_SAMPLING,
    }
)

# Scenarios that look at nothing, and say so, where the server answers as CodePlane does.
NOTHING_TO_CHECK: Final[Mapping[str, str]] = MappingProxyType(
    {"server-sse-polling": "CodePlane opens no event stream for an answer that it has at once"}
)

# Protocol extensions, which the suite runs for no protocol version; CodePlane has tasks.
TASKS: Final = "tasks-"
EXTENSIONS: Final = ("sep-2640-skills-", TASKS)

TASK_CHECKS_NOT_APPLYING: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("tasks-lifecycle", "sep-2663-tasks-get-status-failed"): "CodePlane answers a crash as a tool's error",
        ("tasks-mrtr-input", "sep-2663-tasks-get-status-input-required"): NO_ELICITATION,
        ("tasks-mrtr-input", "tasks-mrtr-partial-fulfillment"): NO_ELICITATION,
        ("tasks-mrtr-composition", "sep-2663-mrtr-synchronous-before-task-creation"): NO_ELICITATION,
        (
            "tasks-required-task-error",
            "sep-2663-server-returns-missing-capability-when-required",
        ): "CodePlane answers every call of every client",
    }
)


def scenarios(home: Path, *narrowed: str) -> set[str]:
    """The names of the server scenarios that the suite has."""
    listed = run("conformance", "list", "--server", *narrowed, env=environment(home), cwd=home)
    assert listed.returncode == 0, listed.stderr
    return set(re.findall(r"^ +- (\S+)", listed.stdout, re.MULTILINE))


@dataclass(frozen=True, kw_only=True)
class Check:
    """What the suite said of one check; the same check may be made more than once."""

    scenario: str
    name: str
    status: str
    message: str

    @property
    def bad(self) -> bool:
        return self.status in {"FAILURE", "WARNING"}

    @property
    def excused(self) -> bool:
        # Also a scenario that does not apply has to be turned down in well-formed messages.
        if self.name == WIRE:
            return False
        return self.scenario in NOT_APPLYING or (self.scenario, self.name) in CHECKS_NOT_APPLYING

    def __str__(self) -> str:
        return f"{self.scenario}: {self.name}: {self.status}: {self.message}"


def checked(home: Path, url: str, *chosen: str) -> list[Check]:
    """Every check of the scenarios that are chosen."""
    results = home / "results"
    options = ("--url", url, *chosen, "--output-dir", str(results))
    # It exits with an error whenever a scenario fails, so what counts is what it wrote down.
    ran = run("conformance", "server", *options, env=environment(home), cwd=home, seconds=120)
    assert results.is_dir(), ran.stdout + ran.stderr
    found = []
    for path in sorted(results.glob("*/checks.json")):
        named = re.fullmatch(r"server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z", path.parent.name)
        assert named, path
        found += [
            Check(
                scenario=named[1], name=check["id"], status=check["status"], message=str(check.get("errorMessage", ""))
            )
            for check in json.loads(path.read_text())
        ]
    return found


@requirement("MCP-01")
def test_every_scenario_of_the_suite_is_accounted_for(tmp_path: Path) -> None:
    everything = scenarios(tmp_path)
    run_for_a_version = set().union(*(scenarios(tmp_path, "--spec-version", version) for version in VERSIONS))

    assert {name for name in everything - run_for_a_version if not name.startswith(EXTENSIONS)} == set()
    named = NOT_APPLYING.keys() | NOTHING_TO_CHECK.keys() | {scenario for scenario, _ in CHECKS_NOT_APPLYING}
    assert named <= run_for_a_version


@requirement("MCP-01")
@pytest.mark.parametrize("version", VERSIONS)
def test_what_applies_passes(version: str, fixture_server: RunningServer, tmp_path: Path) -> None:
    found = checked(tmp_path, fixture_server.mcp_url, "--suite", "all", "--spec-version", version)
    ran = {check.scenario for check in found}
    assert ran == scenarios(tmp_path, "--spec-version", version)

    failed = [str(check) for check in found if check.bad and not check.excused]
    assert not failed, "neither passed nor listed as not applying:\n" + "\n".join(failed)

    bad = {(check.scenario, check.name) for check in found if check.bad}
    stale = {name for name in NOT_APPLYING.keys() & ran if name not in {scenario for scenario, _ in bad}}
    stale |= {f"{scenario}: {name}" for scenario, name in CHECKS_NOT_APPLYING.keys() - bad if scenario in ran}
    assert not stale, "listed as not applying, yet passed or gone:\n" + "\n".join(sorted(stale))

    idle = ran - NOT_APPLYING.keys() - {check.scenario for check in found if check.status == "SUCCESS"}
    assert idle == NOTHING_TO_CHECK.keys() & ran, "nothing was checked in:\n" + "\n".join(sorted(idle))


@requirement("MCX-01")
def test_tasks_pass_where_they_apply(fixture_server: RunningServer, tmp_path: Path) -> None:
    found: list[Check] = []
    for number, name in enumerate(sorted(name for name in scenarios(tmp_path) if name.startswith(TASKS))):
        (home := tmp_path / str(number)).mkdir()
        found += checked(home, fixture_server.mcp_url, "--scenario", name)
    failed = {(check.scenario, check.name): str(check) for check in found if check.bad}
    unexpected = [text for key, text in failed.items() if key not in TASK_CHECKS_NOT_APPLYING]
    assert not unexpected, "neither passed nor listed as not applying:\n" + "\n".join(unexpected)
    assert failed.keys() == TASK_CHECKS_NOT_APPLYING.keys(), "listed as not applying, yet passed or gone"
    assert sum(check.status == "SUCCESS" for check in found) >= 20
