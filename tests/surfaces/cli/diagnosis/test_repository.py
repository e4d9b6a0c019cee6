"""What git says of a repository."""

import os
from pathlib import Path

import pytest

from codeplane.kernel.workspace import Workspace
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check

pytestmark = requirement("CLI-22")


class TestRepository:
    def test_one_with_a_commit(self, workspace: Workspace) -> None:
        found = run_check(workspace, "repository")
        assert found.verdict == "ok" and git(workspace.root, "rev-parse", "HEAD")[:12] in found.found

    def test_a_folder_without_git(self, tmp_path: Path) -> None:
        found = run_check(Workspace(root=tmp_path), "repository")
        assert (found.verdict, found.fix) == ("warn", "git init")

    def test_no_commit(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q")
        found = run_check(Workspace(root=tmp_path), "repository")
        assert (found.verdict, found.found, found.fix) == ("warn", f"{tmp_path} has no commit", "git commit")

    def test_no_branch_is_told(self, workspace: Workspace) -> None:
        git(workspace.root, "checkout", "-q", "--detach")
        found = run_check(workspace, "repository")
        assert found.verdict == "ok" and found.found.endswith("on no branch")

    def test_a_shallow_clone(self, workspace: Workspace, tmp_path: Path) -> None:
        git(workspace.root, "commit", "-q", "--allow-empty", "-m", "two")
        git(tmp_path, "clone", "-q", "--depth", "1", f"file://{workspace.root}", "shallow")
        found = run_check(Workspace(root=tmp_path / "shallow"), "repository")
        assert (found.verdict, found.fix) == ("warn", "git fetch --unshallow")

    def test_a_bare_one(self, workspace: Workspace, tmp_path: Path) -> None:
        git(tmp_path, "clone", "-q", "--bare", str(workspace.root), "bare")
        found = run_check(Workspace(root=tmp_path / "bare"), "repository")
        assert found.verdict == "fail" and "bare" in found.found and "clone it" in found.fix

    def test_objects_named_by_sha256(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "--object-format=sha256")
        found = run_check(Workspace(root=tmp_path), "repository")
        assert found.verdict == "warn" and "sha256" in found.found

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give folders away")
    def test_one_that_somebody_else_owns(self, workspace: Workspace) -> None:
        os.chown(workspace.root, 12345, -1)
        os.chown(workspace.root / ".git", 12345, -1)
        found = run_check(workspace, "repository")
        assert found.verdict == "fail" and "belongs to another user" in found.found
        assert f"git config --global --add safe.directory {workspace.root}" in found.fix

    def test_a_worktree_whose_repository_is_gone(self, tmp_path: Path) -> None:
        (tmp_path / ".git").write_text("gitdir: /nowhere\n")
        found = run_check(Workspace(root=tmp_path), "repository")
        assert found.verdict == "fail" and "git worktree repair" in found.fix


class TestWorktree:
    def test_nothing_under_way(self, workspace: Workspace) -> None:
        assert run_check(workspace, "worktree").verdict == "ok"

    def conflict(self, root: Path, command: str) -> None:
        """Let two branches disagree."""
        (root / "a.txt").write_text("one\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "one")
        git(root, "checkout", "-q", "-b", "other", "HEAD~")
        (root / "a.txt").write_text("two\n")
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "two")
        with pytest.raises(Exception, match="git"):
            git(root, command, "-q", "@{-1}")

    @pytest.mark.parametrize("command", ["merge", "rebase"])
    def test_a_merge_or_rebase_that_stopped(self, workspace: Workspace, command: str) -> None:
        self.conflict(workspace.root, command)
        found = run_check(workspace, "worktree")
        assert found.verdict == "warn" and found.found.startswith(f"a {command} is under way")
        assert found.fix == "git status says how to continue or abort it"

    def test_a_lock_that_was_left(self, workspace: Workspace) -> None:
        lock = workspace.root / ".git/index.lock"
        lock.touch()
        found = run_check(workspace, "worktree")
        assert found.verdict == "warn" and f"rm {lock}" in found.fix


class TestHooks:
    def test_samples_are_none(self, workspace: Workspace) -> None:
        assert (run_check(workspace, "hooks").verdict, run_check(workspace, "hooks").found) == ("ok", "none")

    def test_one_that_git_skips(self, workspace: Workspace) -> None:
        hook = workspace.root / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\n")
        found = run_check(workspace, "hooks")
        assert (found.verdict, found.fix) == ("warn", f"chmod +x {hook}")
        hook.chmod(0o755)
        assert (run_check(workspace, "hooks").verdict, run_check(workspace, "hooks").found) == ("ok", "pre-commit")

    def test_a_folder_that_is_not_there(self, workspace: Workspace) -> None:
        git(workspace.root, "config", "core.hooksPath", ".husky")
        found = run_check(workspace, "hooks")
        assert found.verdict == "warn" and "names .husky, which does not exist" in found.found


def test_files_in_lfs_without_its_program(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_check(workspace, "lfs").verdict == "ok"
    (workspace.root / ".gitattributes").write_text("*.psd filter=lfs diff=lfs merge=lfs -text\n")
    monkeypatch.setenv("PATH", os.defpath)
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    found = run_check(workspace, "lfs")
    assert found.verdict == "warn" and "git lfs pull" in found.fix
    (folder / "git-lfs").touch(mode=0o755)
    assert run_check(workspace, "lfs").verdict == "ok"


def test_a_healthy_repository_with_a_submodule(workspace: Workspace, tmp_path: Path) -> None:
    inner = make_repo(tmp_path / "inner")
    git(workspace.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "lib")
    assert {run_check(workspace, name).verdict for name in ("repository", "worktree", "hooks")} == {"ok"}
    # And the submodule as a root of its own.
    assert run_check(Workspace(root=workspace.root / "lib"), "repository").verdict == "ok"
