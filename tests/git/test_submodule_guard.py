"""What the settings of a repository inside the work tree name is run by nothing that is done to the one around it."""

from pathlib import Path

import pytest

from codeplane.git.write.checkout import Checkout, CheckoutRequest
from codeplane.git.write.commits import AmendRequest, CommitRequest, Commits
from codeplane.git.write.reset import Reset, ResetRequest
from codeplane.git.write.staging import DiscardRequest, StageRequest, Staging, UnstageRequest
from codeplane.git.write.stash import Stashes, StashPopRequest, StashPushRequest
from codeplane.kernel.errors import GitRefused
from tests.git.desk import Desk, call, run, simple
from tests.git.random_repository import RandomRepository
from tests.interaction.requirements import requirement


@pytest.fixture(params=["unsaid", "gitmodules", "included", "config", "unnamed", "recorded", "staged"])
def desk(tmp_path: Path, request: pytest.FixtureRequest) -> Desk:
    """A submodule with edits and a trap; one of the places where that could be said asks git to enter it."""
    desk = simple(tmp_path)
    made, inner = desk.made, RandomRepository.empty(desk.made.root / "sub", "--template=")
    inner.write("f", "x\n")
    inner.write(".gitattributes", "* filter=e\n")
    inner.commit("inner")
    ignore = '[submodule "na=me"]\n\tpath = sub\n\turl = ./sub\n'
    if request.param in ("gitmodules", "included", "recorded"):
        ignore += "\tignore = none\n"
    if request.param == "included":
        ignore += "[include]\n\tpath = nowhere\n"
    if request.param != "unnamed":
        made.write(".gitmodules", ignore)
    made.commit("with a submodule")
    if request.param == "staged":
        made.write(".gitmodules", f"{ignore}\tignore = none\n")
        made.git("add", ".gitmodules")
    if request.param in ("recorded", "staged"):
        # Git goes by what is staged, or committed, while the file is not there.
        (made.root / ".gitmodules").unlink()
    if request.param == "config":
        made.git("config", "submodule.na=me.ignore", "untracked")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'ran'}'\n")
    trap.chmod(0o755)
    inner.git("config", "filter.e.clean", f"'{trap}'; cat")
    inner.git("config", "core.fsmonitor", str(trap))
    hooks = inner.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "post-checkout", "post-index-change"):
        (hooks / name).symlink_to(trap)
    inner.write("f", "edited\n")
    made.write("a.txt", "edited\n")
    return desk


@requirement("GIT-41")
def test_no_operation_runs_what_a_submodule_names(desk: Desk, tmp_path: Path) -> None:
    writer, ran = desk.writer, tmp_path / "ran"
    for paths in (("sub",), (".",), ("sub", "a.txt")):
        run(Staging(writer).stage(call(), StageRequest(paths=paths)))
        assert not ran.exists(), paths
    run(Staging(writer).unstage(call(), UnstageRequest(paths=(".",))))
    with pytest.raises(GitRefused):
        run(Commits(writer).commit(call(), CommitRequest(message="x", paths=("sub",))))
    assert not ran.exists()
    if (desk.made.root / ".gitmodules").exists():
        run(Stashes(writer).push(call(), StashPushRequest()))
    else:
        with pytest.raises(GitRefused, match="gitmodules does not name"):
            run(Stashes(writer).push(call(), StashPushRequest()))
        run(Stashes(writer).push(call(), StashPushRequest(paths=("a.txt",))))
    run(Stashes(writer).pop(call(), StashPopRequest()))
    assert not ran.exists()
    run(Commits(writer).commit(call(), CommitRequest(message="x", paths=(".",))))
    run(Commits(writer).amend(call(), AmendRequest(paths=("sub",))))
    assert not ran.exists()
    desk.made.write("a.txt", "again\n")
    run(Staging(writer).discard(call(), DiscardRequest(paths=(".",))))
    run(Checkout(writer).checkout(call(), CheckoutRequest(ref="HEAD~1")))
    run(Checkout(writer).checkout(call(), CheckoutRequest(ref="main")))
    run(Reset(writer).reset(call(), ResetRequest(ref="HEAD~1", mode="hard")))
    assert not ran.exists()
    assert (desk.made.root / "sub" / "f").read_text() == "edited\n"
    # The trap works: git alone steps into it.
    desk.made.git("add", "sub")
    assert ran.exists()


@requirement("GIT-41")
@pytest.mark.parametrize("paths", [("sub",), (".",), ("sub", "a.txt")])
def test_the_commit_of_a_submodule_is_staged(tmp_path: Path, paths: tuple[str, ...]) -> None:
    desk = simple(tmp_path)
    inner = RandomRepository.empty(desk.made.root / "sub", "--template=")
    inner.commit("inner")
    desk.made.commit("with a submodule")
    head = inner.commit("further")
    desk.made.write("a.txt", "edited\n")
    run(Staging(desk.writer).stage(call(), StageRequest(paths=paths)))
    assert f"160000 {head} 0\tsub".encode() in desk.made.git("ls-files", "--stage", "sub")
    assert (b"a.txt" in desk.made.git("diff", "--cached", "--name-only")) is (paths != ("sub",))
    (inner.root / ".git").rename(tmp_path / "away")
    inner.root.rmdir()
    run(Staging(desk.writer).stage(call(), StageRequest(paths=paths)))
    assert desk.made.git("ls-files", "sub") == b""
