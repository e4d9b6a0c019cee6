"""What `cpl doctor` finds around a repository; each check has one that is sound beside it."""

import json
import os
from pathlib import Path

import pytest

from codeplane.adapters.file_lock import FileLock
from codeplane.adapters.home import prepare
from codeplane.kernel.config import Config
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis import Check, ports
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.surroundings import attached, clients, holder, ownership, waiting, worktree
from tests.harness import Server, git


@pytest.fixture
def workspace(repo: Path) -> Workspace:
    """A repository that was set up, without a server."""
    found = Workspace(root=repo)
    prepare(found)
    return found


def told(check: Check | None) -> tuple[str, str]:
    """A verdict, with what it is about and how to mend it."""
    assert check is not None
    assert check.fix if check.verdict != "ok" else True
    return check.verdict, f"{check.found} {check.fix}"


class TestWorktree:
    def test_nothing_under_way(self, workspace: Workspace) -> None:
        assert told(worktree(workspace))[0] == "ok"

    def test_a_merge_that_stopped(self, workspace: Workspace) -> None:
        (workspace.root / ".git/MERGE_HEAD").write_text(git(workspace.root, "rev-parse", "HEAD"))
        assert told(worktree(workspace)) == ("warn", "a merge is under way git status says how to continue or abort it")

    def test_a_lock_that_was_left(self, workspace: Workspace) -> None:
        lock = workspace.root / ".git/index.lock"
        lock.touch()
        verdict, said = told(worktree(workspace))
        assert verdict == "warn"
        assert f"rm {lock}" in said

    def test_a_folder_without_git(self, tmp_path: Path) -> None:
        assert told(worktree(Workspace(root=tmp_path))) == ("warn", "no git here; git operations are refused git init")


class TestOwnership:
    def test_a_home_of_ones_own(self, workspace: Workspace) -> None:
        assert told(ownership(workspace))[0] == "ok"

    def test_settings_under_version_control(self, workspace: Workspace) -> None:
        workspace.config.write_text("trust: {mode: automatic}\n")
        git(workspace.root, "add", "--force", ".codeplane/config.yaml")
        verdict, said = told(ownership(workspace))
        assert verdict == "fail"
        assert "git rm -r --cached .codeplane" in said


class TestHolder:
    def test_a_process_that_does_not_answer(self, workspace: Workspace) -> None:
        lock = FileLock(workspace.lock)
        lock.acquire()
        try:
            assert told(holder(workspace))[0] == "warn"
        finally:
            lock.release()
        assert holder(workspace) is None


class TestClients:
    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        folder = tmp_path / "home"
        (folder / ".cursor").mkdir(parents=True)
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("PATH", os.defpath)
        return folder

    def entry(self, home: Path, command: str) -> None:
        document = {"mcpServers": {"codeplane": {"command": command, "args": ["mcp"]}}}
        (home / ".cursor/mcp.json").write_text(json.dumps(document))

    def test_one_that_starts_what_is_gone(self, workspace: Workspace, home: Path) -> None:
        self.entry(home, "/nowhere/bin/cpl")
        verdict, said = told(clients(workspace))
        assert verdict == "warn"
        assert "cursor starts /nowhere/bin/cpl, which is not there cpl init" in said

    def test_another_cpl_that_is_there(self, workspace: Workspace, home: Path) -> None:
        other = home / "bin" / "cpl"
        other.parent.mkdir()
        other.touch()
        self.entry(home, str(other))
        assert told(clients(workspace)) == ("ok", "registered: none; also here: cursor ")


class TestAttached:
    def test_none(self, workspace: Workspace) -> None:
        assert told(attached(workspace)) == ("ok", "no further workspace ")

    def test_a_folder_that_is_gone(self, workspace: Workspace, tmp_path: Path) -> None:
        folder = tmp_path / "lib"
        entries = [{"name": "lib", "root": str(folder)}, {"name": "far", "url": "https://example.org/far"}]
        workspace.attached.write_text(json.dumps({"version": 1, "workspaces": entries}))
        verdict, said = told(attached(workspace))
        assert verdict == "warn"
        assert "cpl call workspace.detach name=lib" in said
        folder.mkdir()
        assert told(attached(workspace)) == ("ok", "lib, far ")

    @pytest.mark.parametrize("text", ["{", "[]", '{"workspaces": 3}', '{"workspaces": [1]}'])
    def test_a_list_that_cannot_be_read(self, workspace: Workspace, text: str) -> None:
        workspace.attached.write_text(text)
        assert told(attached(workspace))[0] == "warn"

    def test_one_that_was_set_aside(self, workspace: Workspace) -> None:
        (workspace.home / "workspaces.json.broken").touch()
        assert told(attached(workspace))[0] == "warn"


def test_questions_that_wait_are_counted(server: Server) -> None:
    facts = find_server(server.workspace)
    assert told(waiting(server.workspace, facts)) == ("ok", "nothing ")
    assert told(waiting(server.workspace, None))[0] == "ok"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "box.local"])
def test_an_address_that_may_not_be_served(host: str) -> None:
    verdict, said = told(ports(Config.model_validate({"server": {"host": host}}), None))
    assert verdict == "fail"
    assert "server.host" in said
