"""`cpl policy`: a command line that is wrong says so before anyone is asked."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from codeplane.surfaces.cli.commands.policy import policy
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-17")


def test_the_three_commands_are_there() -> None:
    shown = CliRunner().invoke(policy, ["--help"])
    assert shown.exit_code == 0
    for name in ("show", "check", "explain"):
        assert name in shown.output


@pytest.mark.parametrize("argument", ["text", "=x", ":=1", "n:={", ":x"])
def test_an_argument_that_is_none_is_a_wrong_command_line(argument: str) -> None:
    shown = CliRunner().invoke(policy, ["explain", "git.push", argument])
    assert shown.exit_code == 2
    assert "hint: write" in shown.output


def test_a_file_that_cannot_be_read_is_a_wrong_command_line(tmp_path: Path) -> None:
    binary, large = tmp_path / "a.rego", tmp_path / "b.rego"
    binary.write_bytes(b"\xff\xfe")
    large.write_bytes(b"#" * 200_000)
    for file in (tmp_path / "missing.rego", tmp_path, binary, large):
        shown = CliRunner().invoke(policy, ["check", str(file)])
        assert shown.exit_code == 2, shown.output
        assert "error: " in shown.output
