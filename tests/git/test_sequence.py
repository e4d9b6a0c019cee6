"""What is under way can have been begun by anybody: what its files name is looked at before git goes on with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from codeplane.git.write.commits import CommitRequest, Commits
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.picks import CherrypickRequest, Picks
from codeplane.git.write.rebase import Rebase, RebaseStateRequest
from codeplane.kernel.errors import CodePlaneError, GitRefused, PathDenied
from tests.git.desk import Desk, call, run, simple
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-48")

GO_ON = RebaseStateRequest()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Two commits on `side` that clash with `main`, and a program that git would run for a strategy of that name."""
    desk = simple(tmp_path)
    desk.made.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    for number in (1, 2):
        desk.made.write("a.txt", f"side {number}\n")
        desk.made.commit(f"side {number}")
    desk.made.git("checkout", "--quiet", "main")
    program = desk.made.root / "git-merge-x" / "evil"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ntouch ran\nexit 1\n")
    program.chmod(0o755)
    return desk


def _folder(desk: Desk) -> Path:
    return desk.made.root / ".git"


def _tracking(desk: Desk, name: str = ".codeplane", *parents: str) -> str:
    """A commit that tracks a file in a folder of that name."""
    made = desk.made
    blob = made.git("hash-object", "-w", "--stdin", stdin=b"trust:\n").decode().strip()
    inner = made.git("mktree", stdin=f"100644 blob {blob}\tconfig.yaml\n".encode()).decode().strip()
    entries = made.git("ls-tree", "HEAD") + f"040000 tree {inner}\t{name}\n".encode()
    tree = made.git("mktree", stdin=entries).decode().strip()
    named = [word for parent in (parents or ("HEAD",)) for word in ("-p", parent)]
    return made.git("commit-tree", *named, "-m", "made", tree).decode().strip()


def _stash(desk: Desk, name: str = ".codeplane") -> str:
    """A stash as git makes them, with a file in a folder of that name."""
    index = desk.made.git("commit-tree", "-p", "HEAD", "-m", "index", "HEAD^{tree}").decode().strip()
    return _tracking(desk, name, "HEAD", index)


def _untracked_stash(desk: Desk) -> str:
    stash = _stash(desk, "plain")
    rest = _tracking(desk)
    tree = desk.made.git("rev-parse", f"{stash}^{{tree}}").decode().strip()
    words = [word for parent in (f"{stash}^1", f"{stash}^2", rest) for word in ("-p", parent)]
    return desk.made.git("commit-tree", *words, "-m", "wip", tree).decode().strip()


def _is_planted(desk: Desk) -> bool:
    return (desk.made.root / ".codeplane" / "config.yaml").exists()


@pytest.mark.parametrize("action", ["continue", "skip"])
def test_a_pick_goes_on_by_strategies_of_gits_own(desk: Desk, action: Literal["continue", "skip"]) -> None:
    made = desk.made
    made.git("cherry-pick", "--strategy=resolve", "side~1", "side", check=False)
    opts = _folder(desk) / "sequencer" / "opts"
    assert "resolve" in opts.read_text()
    made.write("a.txt", "resolved\n")
    made.git("add", "a.txt")
    kept = opts.read_text()
    opts.write_text("[options]\n\tstrategy = x/evil\n")
    with pytest.raises(GitRefused, match="a strategy that is not git's own: x/evil"):
        run(Picks(desk.writer).cherrypick(call(), CherrypickRequest(action=action)))
    assert not made.path("ran").exists()
    opts.write_text(kept)
    done = run(Picks(desk.writer).cherrypick(call(), CherrypickRequest(action=action)))
    assert done.conflicts or done.success


@pytest.mark.parametrize("verb", ["go_on", "skip"])
def test_a_rebase_goes_on_by_strategies_of_gits_own(desk: Desk, verb: str) -> None:
    made = desk.made
    made.git("checkout", "--quiet", "side")
    made.git("rebase", "--strategy=resolve", "main", check=False)
    strategy = _folder(desk) / "rebase-merge" / "strategy"
    assert strategy.read_text() == "resolve\n"
    made.write("a.txt", "resolved\n")
    made.git("add", "a.txt")
    strategy.write_text("x/evil\n")
    with pytest.raises(GitRefused, match="a strategy that is not git's own: x/evil"):
        run(getattr(Rebase(desk.writer), verb)(call(), GO_ON))
    assert not made.path("ran").exists()
    strategy.write_text("resolve\n")
    assert run(getattr(Rebase(desk.writer), verb)(call(), GO_ON)).state in ("conflict", "done")


@pytest.mark.parametrize("stash", [_stash, _untracked_stash])
@pytest.mark.parametrize("action", ["continue", "abort", "commit"])
def test_what_comes_back_after_a_merge_is_not_the_gate(
    desk: Desk, action: Literal["continue", "abort", "commit"], stash: Callable[[Desk], str]
) -> None:
    made = desk.made
    made.git("merge", "--quiet", "side", check=False)
    made.write("a.txt", "resolved\n")
    made.git("add", "a.txt")
    autostash = _folder(desk) / "MERGE_AUTOSTASH"
    autostash.write_text(f"{stash(desk)}\n")

    def end() -> None:
        if action == "commit":
            run(Commits(desk.writer).commit(call(), CommitRequest(message="merged")))
        else:
            run(Merges(desk.writer).merge(call(), MergeRequest(action=action)))

    with pytest.raises(PathDenied):
        end()
    assert not _is_planted(desk)
    autostash.write_text(f"{_stash(desk, 'plain')}\n")
    end()
    assert (made.root / "plain" / "config.yaml").exists()


def test_what_comes_back_is_named_by_its_id(desk: Desk) -> None:
    desk.made.git("branch", "evil", _stash(desk))
    desk.made.git("merge", "--quiet", "side", check=False)
    (_folder(desk) / "MERGE_AUTOSTASH").write_text("evil\n")
    with pytest.raises(GitRefused, match="MERGE_AUTOSTASH names no commit: evil"):
        run(Merges(desk.writer).merge(call(), MergeRequest(action="abort")))
    assert not _is_planted(desk)


@pytest.mark.parametrize("verb", ["go_on", "skip", "abort"])
def test_what_comes_back_after_a_rebase_is_not_the_gate(desk: Desk, verb: str) -> None:
    made = desk.made
    made.git("checkout", "--quiet", "side")
    made.git("rebase", "main", check=False)
    made.write("a.txt", "resolved\n")
    made.git("add", "a.txt")
    (_folder(desk) / "rebase-merge" / "autostash").write_text(f"{_stash(desk)}\n")
    with pytest.raises(PathDenied):
        run(getattr(Rebase(desk.writer), verb)(call(), GO_ON))
    assert not _is_planted(desk)


def test_patches_of_a_rebase_are_those_of_commits_that_may_be_written(desk: Desk) -> None:
    made = desk.made
    made.git("checkout", "--quiet", "side")
    made.git("rebase", "--apply", "main", check=False)
    patch = _folder(desk) / "rebase-apply" / "0002"
    kept = patch.read_text()
    patch.write_text(f"From {_tracking(desk)} Mon Sep 17 00:00:00 2001\n")
    with pytest.raises(PathDenied):
        run(Rebase(desk.writer).skip(call(), GO_ON))
    assert not _is_planted(desk)
    patch.write_text(kept)
    assert run(Rebase(desk.writer).skip(call(), GO_ON)).state in ("conflict", "done")


@pytest.mark.parametrize("step", ["reset {}", "t {} # x", "merge {} # x", "merge -C {} {}", "reset label"])
def test_a_step_checks_out_no_commit_that_may_not_be_written(desk: Desk, step: str) -> None:
    made = desk.made
    made.git("checkout", "--quiet", "side")
    made.git("rebase", "main", check=False)
    evil = _tracking(desk)
    made.git("update-ref", "refs/rewritten/label", evil)
    todo = _folder(desk) / "rebase-merge" / "git-rebase-todo"
    todo.write_text(f"{step.format(evil, evil)}\n")
    with pytest.raises(PathDenied):
        run(Rebase(desk.writer).skip(call(), GO_ON))
    assert not _is_planted(desk)


@pytest.mark.parametrize("name", ["orig-head", "head"])
def test_a_rebase_is_not_given_up_for_a_commit_that_may_not_be_written(desk: Desk, name: str) -> None:
    made = desk.made
    made.git("checkout", "--quiet", "side")
    made.git("rebase", "main", check=False)
    folder = _folder(desk) / "rebase-merge"
    (folder / "orig-head").unlink()
    (folder / name).write_text(f"{_tracking(desk)}\n")
    with pytest.raises(CodePlaneError):
        run(Rebase(desk.writer).abort(call(), GO_ON))
    assert not _is_planted(desk)


def test_a_rebase_that_merges_again_goes_on(desk: Desk) -> None:
    made = desk.made
    made.git("checkout", "--quiet", "-b", "topic", "side~2")
    made.write("t.txt", "topic\n")
    made.commit("topic")
    made.git("checkout", "--quiet", "side")
    made.git("merge", "--quiet", "--no-ff", "topic")
    made.git("rebase", "--rebase-merges", "main", check=False)
    made.write("a.txt", "resolved\n")
    made.git("add", "a.txt")
    assert "merge -C" in (_folder(desk) / "rebase-merge" / "git-rebase-todo").read_text()
    assert run(Rebase(desk.writer).go_on(call(), GO_ON)).state == "conflict"
    made.write("a.txt", "side 2\n")
    made.git("add", "a.txt")
    assert run(Rebase(desk.writer).go_on(call(), GO_ON)).state == "done"
    assert made.git("rev-parse", "HEAD^2")
