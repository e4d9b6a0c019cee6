"""Further work trees made, found, locked and removed."""

import shutil
from pathlib import Path

import pytest

from codeplane.kernel.errors import GitRefused, InvalidArgument, NotFound, PathDenied, RefNotFound
from codeplane.kernel.operation import Risk
from codeplane.repo.git.staging import StageRequest, Staging
from codeplane.repo.git.worktrees_writes import (
    WorktreeAddRequest,
    WorktreeLockRequest,
    WorktreeOpenRequest,
    WorktreePruneRequest,
    WorktreeRemoveRequest,
    WorktreeUnlockRequest,
    WorktreeWrites,
)
from tests.repo.git.drawn import Desk, call, run, simple


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return simple(tmp_path)


def test_made_found_locked_and_removed(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    run(writes.add(call(), WorktreeAddRequest(path="trees/one", branch="one", ref="HEAD~1")))
    found = run(writes.open(call(), WorktreeOpenRequest(name="one")))
    assert (found.path, found.branch) == (str(desk.made.root / "trees" / "one"), "one")
    assert (Path(found.path) / "a.txt").read_text().startswith("line 2")
    run(writes.lock(call(), WorktreeLockRequest(name="trees/one", reason="in use")))
    with pytest.raises(GitRefused, match="in use"):
        run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    run(writes.unlock(call(), WorktreeUnlockRequest(name="one")))
    run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    assert not Path(found.path).exists()


def test_changes_in_a_work_tree_are_not_lost_unasked(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    run(writes.add(call(), WorktreeAddRequest(path="one", branch="one")))
    (desk.made.root / "one" / "new").write_text("work\n")
    assert writes.assess_remove(WorktreeRemoveRequest(name="one")).risk is Risk.WRITE
    assert writes.assess_remove(WorktreeRemoveRequest(name="one", force=True)).risk is Risk.DESTRUCTIVE
    with pytest.raises(GitRefused):
        run(writes.remove(call(), WorktreeRemoveRequest(name="one")))
    run(writes.remove(call(), WorktreeRemoveRequest(name="one", force=True)))
    kept = desk.made.git("for-each-ref", "--format=%(refname)", "refs/codeplane/").decode().strip()
    assert desk.made.git("show", f"{kept}:new") == b"work\n"


def test_what_is_gone_is_forgotten(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    run(writes.add(call(), WorktreeAddRequest(path="one", branch="one")))
    shutil.rmtree(desk.made.root / "one")
    assert "one" in run(writes.prune(call(), WorktreePruneRequest())).worktree
    with pytest.raises(NotFound):
        run(writes.open(call(), WorktreeOpenRequest(name="one")))


def test_places_and_names_that_are_none_are_refused(desk: Desk, tmp_path: Path) -> None:
    writes = WorktreeWrites(desk.writer)
    (desk.made.root / "link").symlink_to(tmp_path)
    for path in ("../out", "/tmp/out", ".git/x", ".codeplane/x", ".", "link/out"):
        with pytest.raises(PathDenied):
            run(writes.add(call(), WorktreeAddRequest(path=path)))
    with pytest.raises(RefNotFound):
        run(writes.add(call(), WorktreeAddRequest(path="x", ref="absent")))
    with pytest.raises(InvalidArgument):
        run(writes.add(call(), WorktreeAddRequest(path="x", ref="-x")))
    with pytest.raises(InvalidArgument, match="main work tree"):
        run(writes.remove(call(), WorktreeRemoveRequest(name=str(desk.made.root), force=True)))
    desk.made.git("worktree", "add", "--quiet", "-b", "far", str(tmp_path / "far"))
    assert writes.assess_remove(WorktreeRemoveRequest(name="far")).risk is Risk.DESTRUCTIVE


def excluded(desk: Desk) -> bytes:
    file = desk.made.root / ".git" / "info" / "exclude"
    return file.read_bytes() if file.exists() else b""


@pytest.mark.parametrize("name", ["trees/one", "odd [*]? \\ name", "#one", "!one", " spaced "])
def test_a_work_tree_inside_is_not_committed(desk: Desk, name: str) -> None:
    (desk.made.root / ".git" / "info").mkdir(exist_ok=True)
    (desk.made.root / ".git" / "info" / "exclude").write_bytes(b"# mine\n*.log")
    writes = WorktreeWrites(desk.writer)
    done = run(writes.add(call(), WorktreeAddRequest(path=name, branch="one")))
    assert done.delta.clean and ".git/info/exclude" in done.text()
    desk.made.write("new", "x\n")
    staged = run(Staging(desk.writer).stage(call(), StageRequest(paths=(".",))))
    assert [one.path for one in staged.delta.files] == ["new"]
    assert b"160000" not in desk.made.git("ls-files", "--stage")
    run(writes.remove(call(), WorktreeRemoveRequest(name=name)))
    assert excluded(desk) == b"# mine\n*.log\n"


def test_what_git_ignores_anyway_is_not_excluded_again(desk: Desk) -> None:
    desk.made.write(".gitignore", "trees/\n")
    writes = WorktreeWrites(desk.writer)
    done = run(writes.add(call(), WorktreeAddRequest(path="trees/one", branch="one")))
    assert done.excluded is None and excluded(desk) == b""


def test_a_work_tree_that_is_gone_is_excluded_no_longer(desk: Desk) -> None:
    writes = WorktreeWrites(desk.writer)
    for name in ("one", "two"):
        run(writes.add(call(), WorktreeAddRequest(path=name, branch=name)))
    shutil.rmtree(desk.made.root / "one")
    run(writes.prune(call(), WorktreePruneRequest()))
    assert b"/one/" not in excluded(desk) and b"/two/" in excluded(desk)
