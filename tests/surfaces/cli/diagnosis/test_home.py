"""What lies in `.codeplane/`, and on which disk."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codeplane.edit.batch import Change
from codeplane.edit.history.mutation_store import MANIFEST
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.checklist import run_checks
from tests.edit.batches import Place, applying, killed
from tests.harness import git, start
from tests.interaction.requirements import requirement
from tests.ledger.disks import read_only, small_disk
from tests.surfaces.cli.diagnosis.doctor_run import run_check

pytestmark = requirement("CLI-22")


class TestHome:
    def test_one_that_is_not_there(self, repo: Path) -> None:
        found = run_check(Workspace(root=repo), "home")
        assert (found.verdict, found.fix) == ("warn", "cpl init")

    def test_nothing_is_said_of_what_would_lie_in_a_file(self, repo: Path) -> None:
        (repo / ".codeplane").touch()
        found = list(run_checks(Workspace(root=repo)))
        assert found[-1].name == "home" and not any("Errno" in check.found for check in found)

    def test_one_that_is_a_file(self, repo: Path) -> None:
        (repo / ".codeplane").touch()
        found = run_check(Workspace(root=repo), "home")
        assert (found.verdict, found.fix) == ("fail", f"mv {repo}/.codeplane {repo}/.codeplane.old")

    def test_one_that_is_read_only(self, workspace: Workspace) -> None:
        with read_only(workspace.home):
            found = run_check(workspace, "home")
        assert found.verdict == "fail" and "read-only" in found.found
        assert run_check(workspace, "home").verdict == "ok"

    @pytest.mark.parametrize(
        "name",
        ["lock", "repo_id", "server.key", "owner.token", "ledger.db", "index.db", "facts.db", "server.json",
         "workspaces.json"],
    )  # fmt: skip
    def test_something_else_in_the_place_of_a_file(self, workspace: Workspace, name: str) -> None:
        odd = workspace.home / name
        (workspace.home / "index.db").touch()
        for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to(path.name)):
            odd.unlink(missing_ok=True)
            make(odd)
            # Whoever opened a pipe here would wait for ever.
            found = run_check(workspace, "home")
            assert (found.verdict, found.fix) == ("fail", f"mv {odd} {odd}.old")
            assert found.found == f"no plain file: {name}"
            if odd.is_dir():
                odd.rmdir()

    @pytest.mark.parametrize(
        ("size", "verdict", "output"),
        [("2m", "fail", "its disk is full"), ("64m", "warn", "MB left"), ("64m,nr_inodes=1", "fail", "no inode")],
    )
    def test_a_disk_without_room(self, repo: Path, size: str, verdict: str, output: str) -> None:
        workspace = Workspace(root=repo)
        with small_disk(workspace.home, size):
            found = run_check(workspace, "home")
        assert found.verdict == verdict and output in found.found


class TestOwnership:
    def test_a_home_of_ones_own(self, workspace: Workspace) -> None:
        assert run_check(workspace, "ownership").verdict == "ok"

    def test_settings_under_version_control(self, workspace: Workspace) -> None:
        workspace.config.write_text("trust: {mode: automatic}\n")
        git(workspace.root, "add", "--force", ".codeplane/config.yaml")
        found = run_check(workspace, "ownership")
        assert found.verdict == "fail" and "git rm -r --cached .codeplane" in found.fix

    @pytest.mark.parametrize(("whose", "kept"), [("yours", True), ("somebody else's", False)])
    def test_what_it_says_keeps_what_is_the_owners(self, workspace: Workspace, whose: str, kept: bool) -> None:
        workspace.config.write_text("trust: {mode: automatic}\n")
        workspace.ledger.write_text("of the owner")
        git(workspace.root, "add", "--force", ".codeplane/config.yaml")
        git(workspace.root, "commit", "-q", "-m", "with settings")
        (way_out,) = [part for part in run_check(workspace, "ownership").fix.split("; ") if part.startswith(whose)]
        command = re.search(r"git rm .*'", way_out)
        assert command is not None
        subprocess.run(command[0], shell=True, check=True, cwd=workspace.root, stdout=subprocess.DEVNULL)
        assert run_check(workspace, "ownership").verdict == "ok"
        assert workspace.config.exists() is kept and workspace.ledger.read_text() == "of the owner"


class TestUnfinished:
    def killed(self, workspace: Workspace) -> Path:
        """The folder of an edit that was killed once it was decided."""
        place = Place(root=workspace.root, home=workspace.home)
        at = 0
        while not list((workspace.home / "journal").glob(f"*/{MANIFEST}")):
            shutil.rmtree(workspace.home / "journal", ignore_errors=True)
            at += 1
            assert killed(applying([Change(path="new.txt", content=b"new\n", before=None)])(place), at=at)
        (left,) = (workspace.home / "journal").iterdir()
        return left

    def test_an_edit_that_was_killed_is_ended_by_the_next_start(self, workspace: Workspace) -> None:
        assert run_check(workspace, "unfinished").verdict == "ok"
        left = self.killed(workspace)
        found = run_check(workspace, "unfinished")
        assert found.verdict == "warn" and left.name in found.found and found.fix.startswith("cpl up")
        running = start(workspace.root)
        try:
            assert run_check(workspace, "unfinished").verdict == "ok"
            assert (workspace.root / "new.txt").read_bytes() == b"new\n"
        finally:
            running.stop()

    def test_one_that_cannot_be_ended(self, workspace: Workspace) -> None:
        left = self.killed(workspace)
        (left / MANIFEST).write_text("{")
        running = start(workspace.root)
        try:
            found = run_check(workspace, "unfinished")
        finally:
            running.stop()
        assert found.verdict == "fail" and left.name in found.found and "cpl doctor --logs" in found.fix

    def test_a_git_operation_that_was_killed(self, workspace: Workspace) -> None:
        (workspace.home / "git/mut_1").mkdir(parents=True)
        found = run_check(workspace, "unfinished")
        assert found.verdict == "warn" and "mut_1" in found.found


class TestAttached:
    def test_none(self, workspace: Workspace) -> None:
        assert (run_check(workspace, "attached").verdict, run_check(workspace, "attached").found) == (
            "ok",
            "no further workspace",
        )

    def test_a_folder_that_is_gone(self, workspace: Workspace, tmp_path: Path) -> None:
        folder = tmp_path / "lib"
        entries = [{"name": "lib", "root": str(folder)}, {"name": "far", "url": "https://example.org/far"}]
        workspace.attached.write_text(json.dumps({"version": 1, "workspaces": entries}))
        found = run_check(workspace, "attached")
        assert (found.verdict, found.fix) == ("warn", "cpl call workspace.detach name=lib")
        folder.mkdir()
        assert (run_check(workspace, "attached").verdict, run_check(workspace, "attached").found) == ("ok", "lib, far")

    @pytest.mark.parametrize("text", ["{", "[]", '{"workspaces": 3}', '{"workspaces": [1]}'])
    def test_a_list_that_cannot_be_read(self, workspace: Workspace, text: str) -> None:
        workspace.attached.write_text(text)
        assert run_check(workspace, "attached").verdict == "warn"

    def test_one_that_was_set_aside(self, workspace: Workspace) -> None:
        broken = workspace.home / "workspaces.json.broken"
        broken.touch()
        found = run_check(workspace, "attached")
        assert found.verdict == "warn" and f"rm {broken}" in found.fix
