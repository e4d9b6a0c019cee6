"""Rules of the owner's own that cannot be used."""

import pytest

from codeplane.kernel.workspace import Workspace
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check

pytestmark = requirement("CLI-20")


@pytest.mark.parametrize(
    "text",
    [
        "package codeplane.policy\n\ndeny contains {\n",
        'package codeplane.policy\n\ndeny contains "x" if http.send({})\n',
    ],
)
def test_rules_that_cannot_be_used_are_named(workspace: Workspace, text: str) -> None:
    workspace.policy.mkdir()
    (workspace.policy / "mine.rego").write_text(text)
    found = run_check(workspace, "policy")
    assert found.verdict == "fail" and "mine.rego" in found.found and found.fix == "fix it; then: cpl policy check"


def test_without_any_the_shipped_ones_hold(workspace: Workspace) -> None:
    assert (run_check(workspace, "policy").verdict, run_check(workspace, "policy").found) == (
        "ok",
        "the shipped rules alone",
    )


def test_a_server_keeps_the_last_that_could_be_used(server: Server) -> None:
    server.workspace.policy.mkdir()
    mine = server.workspace.policy / "mine.rego"
    mine.write_text("package codeplane.policy\n\ndeny contains {\n")
    found = run_check(server.workspace, "policy")
    assert found.verdict == "fail" and "mine.rego:" in found.found and "stays in force" in found.found
    mine.write_text('package codeplane.policy\n\ndeny contains "x" if input.risk == "HIGH"\n')
    assert (run_check(server.workspace, "policy").verdict, run_check(server.workspace, "policy").found) == (
        "ok",
        "1 of your own: mine.rego",
    )
