"""Texts that compile and would mean something else than their author thinks."""

import pytest

from codeplane.kernel.errors import PolicyInvalid
from codeplane.trust.policy.rego_source import InputUse, check_sources
from tests.interaction.requirements import requirement
from tests.trust.policy.calls import HEAD, of_call

pytestmark = requirement("TRUST-15")

RULE = 'deny contains "x" if true\n'

REFUSED = {
    "no package": (RULE, 1),
    "another package": ("# hello\npackage policy\n" + RULE, 2),
    "ours": ("package codeplane.shipped\n" + RULE, 1),
    "the one that is asked": ("package codeplane.answer\n" + RULE, 1),
    "the one above": ("package codeplane\n" + RULE, 1),
    "one that only begins alike": ("package codeplane.policyx\n" + RULE, 1),
    "in brackets": ('package codeplane["policy"]\n' + RULE, 1),
    "one that hides a rule": ("package codeplane.policy.deny\nx := 1\n", 1),
    "in a comment": ("# package codeplane.policy\n" + RULE, 1),
    "a truth for a set": (HEAD + "deny if true\n", 3),
    "a value for a set": (HEAD + 'deny := {"x"}\n', 3),
    "a default": (HEAD + "default allow := false\n", 3),
    "the old form": (HEAD + 'deny["x"] { true }\n', 3),
    "an escaped letter": (HEAD + 'deny contains "x" if input.risk == "\\u0052EAD"\n', 3),
    "an escaped slash": (HEAD + 'deny contains "x" if input.paths[0] == "a\\/b"\n', 3),
    "nothing that decides": (HEAD + 'denies contains "x" if true\n', 1),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_before_it_is_compiled(text: str, line: int) -> None:
    with pytest.raises(PolicyInvalid) as caught:
        check_sources({"mine.rego": text})
    problems = caught.value.details["problems"]
    assert isinstance(problems, list) and isinstance(problems[0], dict)
    assert (problems[0]["file"], problems[0]["line"]) == ("mine.rego", line)


@pytest.mark.parametrize(
    "text",
    [
        HEAD + RULE,
        "# a comment\n\n" + HEAD + RULE,
        HEAD + 'deny contains "package policy # not really"\n',
        HEAD + "deny contains `\\u0041 stays as it is`\n",
        HEAD + 'deny contains "a \\\\u is no escape"\n',
        HEAD + 'deny contains "x" if not denying\n\ndenying if allowed_names["x"]\n\nallowed_names := {"x"}\n',
    ],
)
def test_what_is_not(text: str) -> None:
    check_sources({"mine.rego": text})


def test_files_may_share_rules() -> None:
    check_sources({"a.rego": HEAD + RULE, "b.rego": "package codeplane.policy.names\n\nfriends := {1}\n"})
    check_sources({})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("input.risk", {"risk"}),
        ("input.actor.kind", {"actor"}),
        ("input . paths", {"paths"}),
        ("input\n  .remotes", {"remotes"}),
        ("import input.arguments as given", {"arguments"}),
        ('$"{input.effects}"', {"effects"}),
        ("data.input.x", set()),
        ("myinput.x", set()),
    ],
)
def test_what_a_text_looks_at(text: str, parts: set[str]) -> None:
    input_use = InputUse.of([text])
    assert input_use.parts is not None
    assert input_use.parts.keys() == {"cut", *parts}


@pytest.mark.parametrize(
    "text", ["input", 'input["risk"]', "input[x]", "walk(input, y)", "import input as i", "with input as x", "`input`"]
)
def test_what_may_look_at_anything(text: str) -> None:
    assert InputUse.of([text]).parts is None
    document = of_call()
    assert InputUse.of([text]).project(document) is document


def test_a_part_of_an_object_or_the_whole() -> None:
    document = of_call("WRITE")
    assert InputUse.of(["input.actor.kind input.actor.id"]).project(document)["actor"] == {
        "kind": "agent",
        "id": "agent-1",
    }
    assert InputUse.of(["input.actor.kind input.actor"]).project(document)["actor"] == document["actor"]
    assert InputUse.of(['input.actor.kind input.actor["id"]']).project(document)["actor"] == document["actor"]
