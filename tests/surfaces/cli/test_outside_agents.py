"""`cpl agents add|acp|test|remove` and `cpl chat --agent`: outside agents at the terminal."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from codeplane.adapters.known_agents import KNOWN
from codeplane.kernel.config import AgentsConfig
from codeplane.kernel.json import dumps
from tests.harness import Server, start
from tests.interaction.requirements import requirement
from tests.surfaces.cli.test_tools import Owner
from tests.work.agents.agent_plane import SCRIPT

pytestmark = requirement("OAG-06")

STEPS = dumps([["say", "I write it."], ["write", "made.py", "made = 1\n"]])


@pytest.fixture
def owner(tmp_path: Path, repo: Path) -> Owner:
    return Owner(tmp_path / "config", repo)


@pytest.fixture
def server(owner: Owner, tmp_path: Path) -> Iterator[Server]:
    running = start(owner.repo, environ=owner.environ, overrides=[f"jobs.trees={tmp_path / 'trees'}"])
    yield running
    running.stop()


def _add(owner: Owner) -> str:
    return owner.type(
        *("agents", "add", "mine", "--readable", str(SCRIPT.parent)), *("--", sys.executable, "-I", str(SCRIPT))
    )


def test_an_agent_is_added_tried_talked_to_applied_and_removed(owner: Owner, server: Server) -> None:
    assert "outside agents that run threads, as Claude Code: cpl agents acp" in owner.type("agents")
    assert "no outside agents; add one: cpl agents add NAME" in owner.type("agents", "acp")
    added = _add(owner)
    assert "added mine" in added and "does not reach the network" in added
    assert "mine came up: Scripted 1.0; ACP version 1; begins a session in each turn" in owner.type(
        "agents", "test", "mine"
    )
    assert "sees: its own work tree" in owner.type("agents", "acp")
    talked = owner.type("chat", "--agent", "mine", stdin=f"{STEPS}\n/diff\n/apply\n/diff\n")
    assert "I write it." in talked and "changed 1 files in its own tree" in talked
    assert "+made = 1" in talked and "created made.py" in talked and "changed nothing that is not applied" in talked
    assert (owner.repo / "made.py").read_text() == "made = 1\n"
    dropped = owner.type("chat", "--continue", stdin=f"{STEPS.replace('made.py', 'other.py')}\n/discard\n")
    assert "discarded what was changed" in dropped and not (owner.repo / "other.py").exists()
    assert "removed mine" in owner.type("agents", "remove", "mine")
    assert "OUTSIDE_AGENT_UNKNOWN" in owner.type("chat", "--agent", "mine", code=1)
    assert "has no agent 'mine'" in owner.type("agents", "remove", "mine", code=1)


def test_one_that_does_not_come_up_exits_with_1_and_says_why(owner: Owner, server: Server) -> None:
    owner.type("agents", "add", "gone", "--", "no-such-program-here")
    assert "'no-such-program-here' of gone is not on PATH" in owner.type("agents", "test", "gone", code=1)


def test_known_agents_are_added_by_name_with_what_they_may_see(owner: Owner) -> None:
    for name in KNOWN:
        said = owner.type("agents", "add", name)
        assert f"added {name}" in said and "it reaches the network" in said
    written = yaml.safe_load((owner.folder / "agents.yaml").read_text())
    config = AgentsConfig.model_validate(written["agents"])
    assert set(config.acp) == set(KNOWN)
    assert KNOWN["goose"].settings({"PATH": ""})["args"] == ["--yes", "@aaif/goose-acp", "acp"]
    assert config.acp["claude-code"].home == (".claude/.credentials.json", ".claude/settings.json")
    assert "use claude-code, codex" in owner.type("agents", "add", "nobody", code=2)
    assert "not a path below the home folder" in owner.type("agents", "add", "x", "--home", "/etc", "--", "y", code=2)
