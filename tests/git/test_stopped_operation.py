"""A merge, rebase or pick that stopped and was finished is undone as a whole, back to before it began."""

from pathlib import Path
from typing import Literal

import pytest

from codeplane.git.write.commits import CommitRequest, Commits
from codeplane.git.write.git_delta import GitDelta
from codeplane.git.write.merges import MergeRequest, Merges
from codeplane.git.write.picks import CherrypickRequest, Picks, RevertRequest
from codeplane.git.write.rebase import Rebase, RebaseExecuteRequest, RebasePlanRequest, RebaseStateRequest
from codeplane.git.write.rebase_todo import PlanGiven, StepGiven
from codeplane.git.write.staging import StageRequest, Staging
from codeplane.kernel.errors import CannotUndo
from tests.git.desk import Desk, call, repository_state, run, simple
from tests.interaction.requirements import requirement

GO_ON = RebaseStateRequest()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """`topic`, checked out, changes the same line as `main`, before and after commits of its own."""
    desk = simple(tmp_path)
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    desk.made.write("x", "x\n")
    desk.made.commit("add x")
    desk.made.write("a.txt", "of topic\nsecond\nthird\n")
    desk.made.commit("of topic")
    desk.made.write("y", "y\n")
    desk.made.commit("add y")
    desk.made.write("notes", "untracked\n")
    return desk


def resolve(desk: Desk) -> None:
    desk.made.write("a.txt", "both\n")
    run(Staging(desk.writer).stage(call(), StageRequest(paths=("a.txt",))))


def rebased(desk: Desk) -> GitDelta:
    plan = run(Rebase(desk.writer).plan(call(), RebasePlanRequest(upstream="main")))
    steps = tuple(StepGiven(commit_sha=step.commit_sha) for step in plan.steps)
    given = PlanGiven(upstream=plan.upstream, onto=plan.onto, steps=steps)
    return run(Rebase(desk.writer).execute(call(), RebaseExecuteRequest(plan=given))).delta


def begun(desk: Desk, what: str) -> GitDelta:
    if what in ("merge", "commit"):
        return run(Merges(desk.writer).merge(call(), MergeRequest(ref="main"))).delta
    if what == "cherrypick":
        return run(Picks(desk.writer).cherrypick(call(), CherrypickRequest(commit="main"))).delta
    if what == "revert":
        return run(Picks(desk.writer).revert(call(), RevertRequest(commit="main"))).delta
    return rebased(desk)


def ended(desk: Desk, what: str) -> GitDelta:
    if what == "commit":
        return run(Commits(desk.writer).commit(call(), CommitRequest(message="by hand"))).delta
    if what == "merge":
        return run(Merges(desk.writer).merge(call(), MergeRequest(action="continue"))).delta
    if what == "cherrypick":
        return run(Picks(desk.writer).cherrypick(call(), CherrypickRequest(action="continue"))).delta
    if what == "revert":
        return run(Picks(desk.writer).revert(call(), RevertRequest(action="continue"))).delta
    return run(Rebase(desk.writer).go_on(call(), GO_ON)).delta


KINDS = ("merge", "commit", "cherrypick", "revert", "rebase")


@requirement("GIT-21")
@pytest.mark.parametrize("what", KINDS)
def test_what_was_finished_is_undone_as_a_whole(desk: Desk, what: str) -> None:
    before = repository_state(desk.made)
    stopped = begun(desk, what)
    assert stopped.conflicts
    resolve(desk)
    done = ended(desk, what)
    after = repository_state(desk.made)
    assert done.repo_state == "none" and done.mutation_id is not None
    assert "undo goes back to before the" in done.text()
    assert [one.mutation_id for one in desk.mutations.all()] == [done.mutation_id], "the middle of it is no more"
    desk.undo(done.mutation_id)
    assert repository_state(desk.made) == before
    desk.redo(done.mutation_id)
    assert repository_state(desk.made) == after


@requirement("GIT-21")
def test_a_finished_rebase_says_where_the_branch_was(desk: Desk) -> None:
    old = desk.made.git("rev-parse", "HEAD").decode().strip()
    rebased(desk)
    resolve(desk)
    done = run(Rebase(desk.writer).go_on(call(), GO_ON))
    assert done.delta.head_before == old
    assert f"(was {old[:9]})" in done.text()
    assert {one.path for one in done.delta.files} == {"a.txt", "b.txt"}


@requirement("GIT-21")
def test_a_rebase_that_is_skipped_to_its_end_is_undone(desk: Desk) -> None:
    before = repository_state(desk.made)
    rebased(desk)
    done = run(Rebase(desk.writer).skip(call(), GO_ON))
    assert done.state == "done"
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before


@requirement("GIT-21")
@pytest.mark.parametrize("what", KINDS)
def test_what_began_elsewhere_says_that_it_cannot_be_undone(desk: Desk, what: str) -> None:
    old = desk.made.git("rev-parse", "HEAD").decode().strip()
    plain = {"commit": ["merge", "main"], "merge": ["merge", "main"], "rebase": ["rebase", "main"]}
    desk.made.git(*plain.get(what, [{"cherrypick": "cherry-pick"}.get(what, what), "main"]), check=False)
    resolve(desk)
    done = ended(desk, what)
    assert done.repo_state == "none" and done.mutation_id is None
    assert f"cannot be undone by undo; before it: {old}" in done.text()
    assert ("kept in refs/codeplane/recovery/" in done.text()) is (what == "rebase")


@requirement("GIT-21")
def test_work_done_since_stays_when_it_is_undone(desk: Desk) -> None:
    desk.made.write("x", "edited before\n")
    begun(desk, "merge")
    desk.made.write("y", "edited in the middle, not staged\n")
    desk.made.write("new", "made in the middle\n")
    resolve(desk)
    run(Staging(desk.writer).stage(call(), StageRequest(paths=("new", "x"))))
    done = ended(desk, "merge")
    desk.undo(done.mutation_id)
    assert desk.made.path("x").read_text() == "edited before\n"
    assert desk.made.path("y").read_text() == "edited in the middle, not staged\n"
    assert desk.made.path("new").read_text() == "made in the middle\n"
    assert desk.made.path("notes").read_text() == "untracked\n"
    assert desk.made.path("a.txt").read_text() == "of topic\nsecond\nthird\n"


def test_a_commit_since_is_in_the_way(desk: Desk) -> None:
    begun(desk, "merge")
    resolve(desk)
    done = ended(desk, "merge")
    desk.made.commit("another")
    before = repository_state(desk.made)
    with pytest.raises(CannotUndo, match="HEAD moved"):
        desk.undo(done.mutation_id)
    assert repository_state(desk.made) == before


@pytest.mark.parametrize("action", ["abort", "skip"])
def test_giving_up_forgets_what_cannot_be_undone_any_more(desk: Desk, action: Literal["abort", "skip"]) -> None:
    before = repository_state(desk.made)
    begun(desk, "cherrypick")
    resolve(desk)
    done = run(Picks(desk.writer).cherrypick(call(), CherrypickRequest(action=action)))
    assert repository_state(desk.made) == before and done.delta.note == ""
    assert desk.mutations.all() == ()
