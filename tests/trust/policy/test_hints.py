"""What whoever was refused is told to type: it can be pasted, and shows the same refusal."""

import shlex
from pathlib import Path

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Result
from codeplane.surfaces.cli.commands.policy import parse_assignments
from codeplane.trust.policy.models import PolicyExplained
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, plane
from tests.trust.policy.calls import HEAD, own, write

pytestmark = requirement("TRUST-15")


async def refused(root: Path, text: str, arguments: JsonObject) -> tuple[CodePlaneError, Result | None]:
    """The refusal of an agent's push, and what its hint's command answers."""
    write(own(root), mine=text)
    async with plane(root, operations=[FixtureOps()]) as opened:
        error = (await opened.conveyor.call("fixture.push", arguments, AGENT)).error
        assert error is not None
        words = shlex.split(error.hint.partition("cpl policy explain ")[2])
        asked: JsonObject = {"operation": words[0], "arguments": parse_assignments(words[1:])}
        return error, (await opened.conveyor.call("policy.explain", asked, OWNER)).result


async def test_a_denial_names_the_call_itself(tmp_path: Path) -> None:
    text = HEAD + 'deny contains "no" if contains(input.arguments.text, "it\'s")\n'
    error, explained = await refused(tmp_path, text, {"text": "it's $HOME; `x`"})
    assert error.name == "POLICY_DENIED"
    assert isinstance(explained, PolicyExplained)
    assert (explained.verdict, explained.reasons) == ("deny", ("no",))
    assert explained.input["arguments"] == {"text": "it's $HOME; `x`"}


async def test_a_call_that_is_too_long_to_type_is_named_without_its_arguments(tmp_path: Path) -> None:
    error, _ = await refused(tmp_path, HEAD + 'deny contains "no" if input.risk != "READ"\n', {"text": "x" * 5000})
    assert error.hint.endswith("cpl policy explain fixture.push")


async def test_a_secret_is_not_said_again(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    error, _ = await refused(tmp_path, HEAD + 'deny contains "no" if input.risk != "READ"\n', {"text": secret})
    assert secret not in error.hint and "cpl policy explain fixture.push" in error.hint


async def test_a_rule_that_fails_is_named_by_its_line(tmp_path: Path) -> None:
    text = HEAD + 'deny contains "no" if {\n\tinput.risk == "WRITE"\n\tto_number("hello") > 1\n}\n'
    error, explained = await refused(tmp_path, text, {"text": "plain"})
    assert "the policy failed: .codeplane/policy/mine.rego:5: invalid syntax" in error.message
    assert error.hint.endswith("cpl policy explain fixture.push text=plain")
    assert isinstance(explained, PolicyExplained) and "mine.rego:5" in explained.text()


async def test_a_rule_that_fails_on_the_input_is_named_by_the_value(tmp_path: Path) -> None:
    error, _ = await refused(
        tmp_path, HEAD + 'deny contains "no" if to_number(input.arguments.text) > 1\n', {"text": "many"}
    )
    assert "the policy failed: invalid syntax, with the value 'many'" in error.message
