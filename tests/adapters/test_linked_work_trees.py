"""Linked work trees: what a hook can write into the git folder makes no folder of the system one of them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from codeplane.adapters.hook_sandbox import HookSandbox
from codeplane.adapters.linked_work_trees import linked_work_trees
from codeplane.adapters.secret_files import SecretFiles
from codeplane.adapters.shell_sandbox import ShellSandbox
from codeplane.kernel.errors import SandboxMissing
from codeplane.kernel.secret_paths import NOTHING_SHOWN
from tests.git.test_guarded_programs import needs_bubblewrap
from tests.harness import git, make_repo
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, plane

pytestmark = requirement("TRUST-48")


def _secrets(root: Path) -> SecretFiles:
    return SecretFiles(serving=root, rules=NOTHING_SHOWN, empty=root.parent / "empty")


def _entry(root: Path, named: Path | str) -> Path:
    """An entry of a work tree as a hook writes it."""
    entry = root / ".git" / "worktrees" / "x"
    entry.mkdir(parents=True, exist_ok=True)
    (entry / "gitdir").write_text(f"{named}\n")
    return entry


@needs_bubblewrap
async def test_a_hook_that_names_the_systems_programs_a_work_tree_is_still_enclosed(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    for name, value in (("user.name", "Test"), ("user.email", "test@example.com")):
        git(root, "config", name, value)
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\ncat .codeplane/owner.token > taken.txt 2>&1\ntrue\n")
    hook.chmod(0o755)
    program = shutil.which("bwrap")
    assert program is not None
    _entry(root, Path(program).parent.parent / ".git")
    async with plane(root) as opened:
        done = await opened.conveyor.call("git.commit", {"message": "x", "allow_empty": True}, AGENT)
        assert done.error is None, done.error
    assert "cpl_" not in (root / "taken.txt").read_text()


def test_a_work_tree_counts_when_its_own_file_leads_back(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    git(root, "worktree", "add", "--quiet", "inner")
    assert set(linked_work_trees(root)) == {tmp_path / "linked", root / "inner"}
    other = make_repo(tmp_path / "other", {"README.md": "# shop\n"})
    for named in (other / ".git", tmp_path / "linked" / ".git", tmp_path / "nothing" / ".git", "relative/.git"):
        _entry(root, named)
        assert set(linked_work_trees(root)) == {tmp_path / "linked", root / "inner"}
    # A folder outside with a file that leads to another entry, and one that is a link.
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / ".git").symlink_to(tmp_path / "linked" / ".git")
    _entry(root, tmp_path / "outside" / ".git")
    assert tmp_path / "outside" not in set(linked_work_trees(root))


def test_one_around_the_home_or_this_python_counts_in_no_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    around = tmp_path / "around"
    (around / "home").mkdir(parents=True)
    (around / ".git").write_text(f"gitdir: {_entry(root, around / '.git')}\n")
    assert list(linked_work_trees(root)) == [around]
    monkeypatch.setenv("HOME", str(around / "home"))
    assert list(linked_work_trees(root)) == []
    monkeypatch.undo()
    monkeypatch.setattr("sys.executable", str(around / "bin" / "python"))
    assert list(linked_work_trees(root)) == []


def _only_bubblewrap_in(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `PATH` with git, and with bubblewrap in this work tree alone."""
    for folder, name in ((tree / "bin", "bwrap"), (tmp_path / "programs", "git")):
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tree / "bin"), str(tmp_path / "programs"))))


@needs_bubblewrap
async def test_where_the_only_bubblewrap_lies_in_a_linked_work_tree_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    _only_bubblewrap_in(tmp_path / "linked", tmp_path, monkeypatch)

    with pytest.raises(SandboxMissing, match="lies in a work tree"):
        async with plane(root):
            pass
    # One that agents do not write.
    (tmp_path / "programs" / "bwrap").symlink_to((tmp_path / "linked" / "bin" / "bwrap").readlink())
    async with plane(root):
        pass


@needs_bubblewrap
@pytest.mark.parametrize("named", [".env", "../outside/.git", "leads/.git"])
def test_a_shell_command_is_not_shown_what_an_entry_names(tmp_path: Path, named: str) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    git(root, "worktree", "add", "--quiet", "inner")
    (tmp_path / "outside").mkdir()
    (root / "leads").symlink_to(tmp_path / "outside")
    for place in (root / ".env", tmp_path / "outside" / ".git"):
        place.write_text("DB_PASSWORD=hunter2-correct-horse\n")
    _entry(root, f"{root}/{named}")
    (root / ".codeplane").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    sandbox = ShellSandbox(
        root=root,
        own=root / ".codeplane",
        cache=tmp_path / "cache",
        home=home,
        environment={"PATH": "/usr/bin:/bin"},
        secrets=_secrets(root),
    )
    script = f"cat {named}; cat {tmp_path}/outside/.git; echo changed > inner/.git; echo end"
    command = sandbox.command(["/bin/sh", "-c", script], cwd=root, network=False)
    output = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
    assert output == "end\n"
    assert (root / "inner" / ".git").read_text().startswith("gitdir: ")


@needs_bubblewrap
def test_hooks_are_enclosed_beside_real_work_trees(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "repo", {"README.md": "# shop\n"})
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    assert HookSandbox(_secrets(root)).works(network=True)
    _entry(root, "/usr/.git")
    assert HookSandbox(_secrets(root)).works(network=True)
