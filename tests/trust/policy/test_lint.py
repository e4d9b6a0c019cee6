"""Rules that can be used and never speak: what no call has is named, with the nearest right name."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.actor import Actor, ActorKind, Origin
from codeplane.trust.policy.lint import FIELDS, InputVocabulary
from codeplane.trust.policy.rego_source import shipped_bundle
from tests.harness import Server, cpl
from tests.interaction.requirements import requirement
from tests.trust.policy.calls import HEAD, of_call

pytestmark = requirement("TRUST-14")

DOCS = Path(__file__).parents[3] / "docs"


def warnings_of(rule: str) -> list[str]:
    return [one.message for one in InputVocabulary.of().lint({"a.rego": rule})]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('input.rsk == "HIGH"', "no call has input.rsk; input has risk"),
        ('input["rsk"] == "HIGH"', "no call has input.rsk; input has risk"),
        ('input.actor.knd == "agent"', "no call has input.actor.knd; input.actor has kind"),
        ('input.actor.kind == "agnet"', 'input.actor.kind is never "agnet"; it can be agent'),
        ('"agnet" == input.actor.kind', 'input.actor.kind is never "agnet"; it can be agent'),
        ('input.risk in {"READ", "HIHG"}', 'input.risk is never "HIHG"; it can be HIGH'),
        ('input.risk != "high"', 'input.risk is never "high"; it can be HIGH'),
        ('"forse" in input.kinds', 'input.kinds never holds "forse"; there is force'),
        ('input.kinds[_] == "forse"', 'input.kinds never holds "forse"; there is force'),
        ("input.context.mode == `alwys`", 'input.context.mode is never "alwys"; it can be always'),
    ],
)
def test_what_no_call_has_is_named(condition: str, expected: str) -> None:
    assert warnings_of(f"{HEAD}deny contains reason if {condition}\n") == [expected]


@pytest.mark.parametrize(
    "condition",
    [
        'input.risk == "HIGH" # not input.rsk',
        'input.arguments.anything == "at all"',
        'input.actor.id == "whoever"',
        'input.context.client in ["editor", "other"]',
        'startswith(input.operation.name, "git.")',
        'input.operation[name] == "git.push"',
        'some path in input.paths; path == "input.rsk"',
        '"origin" in input.remote_names',
        'input.context.grant.approval_mode == "always"',
        'data.codeplane.policy.input.rsk == "x"',
        "input.context.grant == null",
    ],
)
def test_what_calls_have_is_not_doubted(condition: str) -> None:
    assert warnings_of(f"{HEAD}deny contains reason if {{ {condition} }}\n") == []


def test_neither_the_shipped_rules_nor_those_of_the_guides_are_doubted() -> None:
    guides = [
        text for guide in DOCS.rglob("*.md") for text in re.findall(r"```rego\n(.*?)```", guide.read_text(), re.S)
    ]
    assert len(guides) >= 2
    for text in (*guides, *shipped_bundle().sources.values()):
        assert warnings_of(text) == []


def test_the_fields_are_those_of_a_call() -> None:
    call = of_call(grant={"approval_mode": "always"})
    delegator = Actor(kind=ActorKind.AGENT, actor_id="a")
    origin = Origin(
        work_id="x", thread_id="x", turn_id="x", job_id="x", namespace="x", node="x", is_unattended=True, tree_id="x"
    )
    context = call["context"]
    assert isinstance(context, dict)
    context["origin"] = replace(origin, step=1, on_behalf_of=delegator).to_json()
    for path, names in FIELDS.items():
        found: object = call
        for name in path:
            assert isinstance(found, dict)
            found = found[name]
        assert isinstance(found, dict) and set(found) == set(names)


def test_a_person_is_told_with_file_and_line(server: Server) -> None:
    folder = server.workspace.policy
    folder.mkdir()
    (folder / "mine.rego").write_text(f'{HEAD}deny contains "no" if input.operation.name == "git.psuh"\n')
    (folder / "bad.reg").write_text(HEAD)
    (folder / "README.md").write_text("notes\n")
    checked = cpl("policy", "check", cwd=server.repo)
    assert checked.returncode == 0, checked.stderr
    expected = [
        '.codeplane/policy/mine.rego:3: input.operation.name is never "git.psuh"; it can be git.push',
        ".codeplane/policy/bad.reg: not read; a policy's name ends in .rego",
    ]
    assert checked.stdout.splitlines()[1:] == [f"warning: {one}" for one in expected]
    doctor = cpl("doctor", cwd=server.repo).stdout
    assert next(line for line in doctor.splitlines() if "git.psuh" in line).lstrip().startswith("warn")
    summary = server.call("policy.summary")["result"]
    assert isinstance(summary, dict)
    assert summary["problems"] == [] and ".codeplane/policy/bad.reg" in str(summary["warnings"])
