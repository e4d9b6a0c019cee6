"""Merges, cherry-picks and reverts that stop at conflicts: told as data, concluded, skipped and given up."""

from pathlib import Path
from typing import Literal

import pytest

from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.picks import CherrypickRequest, Picks, RevertRequest
from codeplane.kernel.errors import GitBusy, GitRefused, InvalidArgument
from codeplane.kernel.operation import Risk
from tests.git.desk import Desk, call, copied, repository_state, run, simple
from tests.interaction.requirements import requirement


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """`topic`, checked out, changes the same line as `main`."""
    desk = simple(tmp_path)
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    desk.made.write("a.txt", "of topic\nsecond\nthird\n")
    desk.made.commit("of topic")
    return desk


def resolve(desk: Desk) -> None:
    desk.made.write("a.txt", "both\n")
    desk.made.git("add", "a.txt")


@requirement("GIT-11")
def test_a_merge_is_concluded_as_git_concludes_it(desk: Desk, tmp_path: Path) -> None:
    plain = copied(desk.made, tmp_path / "plain")
    done = run(Merges(desk.writer).merge(call(), MergeRequest(ref="main")))
    (conflict,) = done.conflicts
    assert conflict.ancestor_oid and conflict.ours_oid and conflict.theirs_oid
    assert done.delta.repo_state == "merge" and "conflict UU a.txt" in done.text()
    with pytest.raises(GitBusy):
        run(Merges(desk.writer).merge(call(), MergeRequest(action="continue")))
    resolve(desk)
    done = run(Merges(desk.writer).merge(call(), MergeRequest(action="continue")))
    plain.git("merge", "main", check=False)
    plain.write("a.txt", "both\n")
    plain.git("add", "a.txt")
    plain.git("commit", "--quiet", "--no-edit")
    assert done.success and done.commit
    assert repository_state(desk.made) == repository_state(plain)


@requirement("GIT-11")
def test_a_merge_is_given_up_and_work_on_it_is_kept(desk: Desk) -> None:
    before = repository_state(desk.made)
    run(Merges(desk.writer).merge(call(), MergeRequest(ref="main")))
    desk.made.write("a.txt", "resolved by hand\n")
    done = run(Merges(desk.writer).merge(call(), MergeRequest(action="abort")))
    assert repository_state(desk.made) == before
    assert desk.made.git("show", f"{done.delta.recovery}:a.txt") == b"resolved by hand\n"


@requirement("GIT-11")
def test_a_merge_that_must_move_forward_alone(desk: Desk) -> None:
    with pytest.raises(GitRefused):
        run(Merges(desk.writer).merge(call(), MergeRequest(ref="main", ff="only")))
    desk.made.git("checkout", "--quiet", "-b", "behind", "main~1")
    done = run(Merges(desk.writer).merge(call(), MergeRequest(ref="main", ff="only")))
    assert done.success and done.fastforward and done.commit is None


@requirement("GIT-11")
@pytest.mark.parametrize("what", ["cherrypick", "revert"])
@pytest.mark.parametrize("action", ["continue", "skip", "abort"])
def test_picks_go_on(desk: Desk, what: str, action: Literal["continue", "skip", "abort"]) -> None:
    picks = Picks(desk.writer)

    def pick(commit: str = "", act: str = "start") -> bool:
        given = {"commit": commit, "action": act}
        if what == "cherrypick":
            return run(picks.cherrypick(call(), CherrypickRequest.model_validate(given))).success
        return run(picks.revert(call(), RevertRequest.model_validate(given))).success

    head = desk.made.git("rev-parse", "HEAD")
    with pytest.raises(GitRefused):
        pick(act=action)
    with pytest.raises(InvalidArgument):
        pick()
    assert not pick("main")
    with pytest.raises(GitBusy):
        pick("main")
    if action == "continue":
        assert not pick(act=action), "nothing was resolved yet"
        resolve(desk)
    assert pick(act=action)
    assert (desk.made.git("rev-parse", "HEAD") == head) is (action != "continue")
    assert desk.made.git("status", "--porcelain") == b""


@requirement("GIT-11")
def test_a_merge_commit_is_picked_by_one_of_its_parents(desk: Desk) -> None:
    desk.made.git("merge", "--quiet", "--strategy=ours", "--no-edit", "main")
    desk.made.git("branch", "merged")
    with pytest.raises(GitRefused):
        run(Picks(desk.writer).revert(call(), RevertRequest(commit="merged")))
    done = run(Picks(desk.writer).revert(call(), RevertRequest(commit="merged", mainline=2)))
    assert done.success and desk.made.path("a.txt").read_text().startswith("line 3")


@pytest.mark.parametrize("action", ["skip", "abort"])
def test_a_pick_that_is_empty_here_says_so(desk: Desk, action: Literal["skip", "abort"]) -> None:
    picks = Picks(desk.writer)
    desk.made.write("b.txt", "edited before\n")
    before = repository_state(desk.made)
    done = run(picks.cherrypick(call(), CherrypickRequest(commit="topic")))
    assert not done.success and done.empty and done.unmet() == "nothing to apply"
    assert done.text().startswith("empty here: nothing to apply; call again with action skip or abort")
    assert run(picks.cherrypick(call(), CherrypickRequest(action="continue"))).empty
    assert picks.assess_cherrypick(CherrypickRequest(action=action)).risk is Risk.WRITE
    done = run(picks.cherrypick(call(), CherrypickRequest(action=action)))
    assert done.success and done.delta.recovery is None
    assert repository_state(desk.made) == before


def test_a_revert_of_what_was_taken_back_says_so(desk: Desk) -> None:
    desk.made.git("revert", "--no-edit", "HEAD")
    desk.made.write("b.txt", "edited before\n")
    before = repository_state(desk.made)
    with pytest.raises(GitRefused, match="empty here: nothing to apply"):
        run(Picks(desk.writer).revert(call(), RevertRequest(commit="HEAD~1")))
    assert repository_state(desk.made) == before


def test_only_what_was_resolved_counts_as_lost(desk: Desk) -> None:
    desk.made.write("c.txt", "first\n")
    desk.made.commit("has c")
    desk.made.write("c.txt", "edited before\n")
    picks, given_up = Picks(desk.writer), CherrypickRequest(action="abort")
    run(picks.cherrypick(call(), CherrypickRequest(commit="main")))
    assert picks.assess_cherrypick(given_up).risk is Risk.WRITE
    done = run(picks.cherrypick(call(), given_up))
    assert done.delta.recovery is None and desk.made.path("c.txt").read_text() == "edited before\n"
    run(picks.cherrypick(call(), CherrypickRequest(commit="main")))
    desk.made.write("a.txt", "resolved by hand\n")
    assessed = picks.assess_cherrypick(given_up)
    assert assessed.risk is Risk.DESTRUCTIVE
    assert "a.txt" in assessed.effects[0] and "c.txt" not in assessed.effects[0]
    done = run(picks.cherrypick(call(), given_up))
    assert desk.made.git("ls-tree", "--name-only", str(done.delta.recovery)) == b"a.txt\n"
    assert desk.made.path("c.txt").read_text() == "edited before\n"
