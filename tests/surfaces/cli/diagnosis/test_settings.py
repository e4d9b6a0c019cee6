"""Settings that are broken, name what is not there, or are not those of the server."""

from pathlib import Path

import pytest

from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.settings import names
from tests.harness import Server, cpl
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check, server_probe, settings

pytestmark = requirement("CLI-20")


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("trust:\n  mode: reckless\n", "config.yaml:2: trust.mode"),
        ("trust:\n  mood: trust\n", "trust.mood"),
        ("trust: [\n", "config.yaml:"),
    ],
)
def test_broken_settings_are_named_with_their_place(workspace: Workspace, text: str, output: str) -> None:
    assert (run_check(workspace, "settings").verdict, run_check(workspace, "settings").found) == ("ok", "defaults")
    workspace.config.write_text(text)
    found = run_check(workspace, "settings")
    assert found.verdict == "fail" and output in found.found


def test_settings_that_the_server_has_not_read(server: Server) -> None:
    assert run_check(server.workspace, "settings").verdict == "ok"
    server.workspace.config.write_text("limits: {max_mutations: 7}\n")
    found = run_check(server.workspace, "settings")
    assert found.verdict == "warn" and "not in force until a restart: limits.max_mutations" in found.found
    assert found.fix == "cpl down && cpl up"


class TestNames:
    @pytest.mark.parametrize(
        ("text", "output", "fix"),
        [
            ("trust: {allow: [ledger.retian]}", "'ledger.retian'", "write ledger.retain instead"),
            ("mcp: {toolset: 'core,gti'}", "'gti'", "cpl call"),
        ],
    )
    def test_what_is_not_there_is_named(self, workspace: Workspace, text: str, output: str, fix: str) -> None:
        workspace.config.write_text(text)
        found = run_check(workspace, "names")
        assert found.verdict == "fail" and output in found.found and fix in found.fix

    def test_what_is(self, workspace: Workspace) -> None:
        workspace.config.write_text("trust: {allow: [ledger.retain]}\nmcp: {toolset: 'core,git'}\n")
        assert run_check(workspace, "names").verdict == "ok"

    def test_a_server_is_asked_where_there_is_one(self, codeplane_server: Server) -> None:
        served, workspace = server_probe(codeplane_server), codeplane_server.workspace
        assert names(workspace, settings(trust={"allow": ("ledger.retian",)}), served).verdict == "fail"
        assert names(workspace, settings(trust={"allow": ("ledger.retain",)}), served).verdict == "ok"


def test_what_starts_a_server_anew_leaves_it_in_the_background(repo: Path) -> None:
    assert cpl("up", "-d", cwd=repo).returncode == 0
    try:
        workspace = Workspace(root=repo.resolve())
        workspace.config.write_text("limits: {max_mutations: 7}\n")
        assert run_check(workspace, "settings").fix == "cpl down && cpl up -d"
    finally:
        assert cpl("down", cwd=repo).returncode == 0


@pytest.mark.parametrize(
    ("text", "output"),
    [("contexts: 3\n", "contexts.yaml:1"), ("version: 99\n", "version 99"), ("contexts: [\n", "not YAML")],
)
def test_contexts_that_cannot_be_heeded(workspace: Workspace, text: str, output: str) -> None:
    assert run_check(workspace, "contexts").verdict == "ok"
    (workspace.home / "contexts.yaml").write_text(text)
    found = run_check(workspace, "contexts")
    assert found.verdict == "warn" and output in found.found
