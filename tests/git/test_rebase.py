"""Rebases planned, changed, done, stopped, gone on with and given up."""

from pathlib import Path

import pytest

from codeplane.git.write.rebase import (
    Rebase,
    RebaseExecuteRequest,
    RebasePlan,
    RebasePlanRequest,
    RebaseResult,
    RebaseStateRequest,
)
from codeplane.git.write.rebase_todo import PlanGiven, StepGiven
from codeplane.kernel.errors import GitBusy, GitRefused, InvalidArgument
from tests.git.desk import Desk, call, repository_state, run, simple
from tests.interaction.requirements import requirement

GO_ON = RebaseStateRequest()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Four commits on `topic`, one file each, beside one on `main`."""
    desk = simple(tmp_path)
    desk.made.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    for name in "wxyz":
        desk.made.write(name, f"{name}\n")
        desk.made.commit(f"add {name}\n\nbody of {name}")
    return desk


def planned(desk: Desk, upstream: str = "main") -> RebasePlan:
    return run(Rebase(desk.writer).plan(call(), RebasePlanRequest(upstream=upstream)))


def execute(desk: Desk, *changes: tuple[str, str | None], upstream: str = "main") -> RebaseResult:
    """Each step with its action and message."""
    plan = planned(desk, upstream)
    steps = tuple(
        StepGiven.model_validate({"action": action, "commit_sha": step.commit_sha, "message": message})
        for (action, message), step in zip(changes, plan.steps, strict=True)
    )
    given = PlanGiven(upstream=plan.upstream, onto=plan.onto, steps=steps)
    return run(Rebase(desk.writer).execute(call(), RebaseExecuteRequest(plan=given)))


def subjects(desk: Desk) -> list[str]:
    return desk.made.git("log", "--reverse", "--format=%s", "main..HEAD").decode().splitlines()


@requirement("GIT-12")
def test_every_kind_of_step_does_what_git_does(desk: Desk) -> None:
    before = repository_state(desk.made)
    assert [step.message for step in planned(desk).steps] == ["add w", "add x", "add y", "add z"]
    done = execute(desk, ("reword", "better w\n\n# not a comment\n"), ("fixup", None), ("pick", None), ("drop", None))
    assert (done.success, done.state, done.completed_steps, done.total_steps) == (True, "done", 4, 4)
    assert subjects(desk) == ["better w", "add y"]
    assert "# not a comment" in desk.made.git("log", "-1", "--format=%b", "HEAD~1").decode()
    assert desk.made.git("show", "--name-only", "--format=", "HEAD~1").decode().split() == ["w", "x"]
    assert not desk.made.path("z").exists() and done.new_head == done.delta.head
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before
    desk.redo(done.delta.mutation_id)
    assert subjects(desk) == ["better w", "add y"]


@requirement("GIT-12")
def test_squash_takes_its_message_at_the_end_of_the_run(desk: Desk) -> None:
    execute(desk, ("pick", None), ("squash", "w and x"), ("pick", None), ("squash", None))
    assert subjects(desk) == ["w and x", "add y"]
    assert "body of z" in desk.made.git("log", "-1", "--format=%B").decode()
    assert "body of x" not in desk.made.git("log", "-1", "--format=%B", "HEAD~1").decode()


@requirement("GIT-12")
def test_a_run_of_squashes_and_fixups_with_one_message(desk: Desk) -> None:
    execute(desk, ("reword", "first"), ("squash", "all of it"), ("fixup", None), ("squash", None))
    assert subjects(desk) == ["all of it"]


@requirement("GIT-12")
def test_steps_in_another_order(desk: Desk) -> None:
    plan = planned(desk)
    steps = tuple(StepGiven(commit_sha=step.commit_sha[:12]) for step in reversed(plan.steps))
    given = PlanGiven(upstream="main", onto="", steps=steps)
    assert run(Rebase(desk.writer).execute(call(), RebaseExecuteRequest(plan=given))).success
    assert subjects(desk) == ["add z", "add y", "add x", "add w"]


@requirement("GIT-12")
def test_edit_pauses_and_goes_on(desk: Desk) -> None:
    done = execute(desk, ("pick", None), ("edit", None), ("reword", "why"), ("pick", None))
    assert (done.success, done.state, done.completed_steps, done.total_steps) == (False, "edit_pause", 2, 4)
    assert done.delta.repo_state == "rebase" and done.current_commit
    desk.made.write("x", "amended\n")
    desk.made.git("commit", "--quiet", "--amend", "--all", "--no-edit")
    done = run(Rebase(desk.writer).go_on(call(), GO_ON))
    assert (done.success, done.state, done.completed_steps) == (True, "done", 4)
    assert subjects(desk) == ["add w", "add x", "why", "add z"]


@requirement("TRUST-48")
@pytest.mark.parametrize("word", ["exec", "  x"])
def test_a_step_that_runs_a_command_is_not_gone_on_with(desk: Desk, word: str) -> None:
    execute(desk, ("edit", None), ("pick", None), ("pick", None), ("pick", None))
    todo = desk.made.root / ".git" / "rebase-merge" / "git-rebase-todo"
    steps = todo.read_text()
    todo.write_text(f"{word} touch ran\n{steps}")
    for step in (Rebase(desk.writer).go_on(call(), GO_ON), Rebase(desk.writer).skip(call(), GO_ON)):
        with pytest.raises(GitRefused, match="a step of this rebase runs a command: touch ran"):
            run(step)
    assert not desk.made.path("ran").exists()
    todo.write_text(steps)
    assert run(Rebase(desk.writer).go_on(call(), GO_ON)).success


def conflicting(desk: Desk) -> RebaseResult:
    desk.made.write("a.txt", "of topic\n")
    desk.made.commit("clash")
    return execute(desk, *[("pick", None)] * 4, ("reword", "resolved"))


def test_conflicts_are_resolved_and_gone_on_with(desk: Desk) -> None:
    done = conflicting(desk)
    assert (done.state, done.conflict_paths, done.completed_steps, done.total_steps) == ("conflict", ("a.txt",), 4, 5)
    with pytest.raises(GitBusy):
        execute(desk, upstream="HEAD")
    again = run(Rebase(desk.writer).go_on(call(), GO_ON))
    assert again.state == "conflict", "nothing was resolved yet"
    desk.made.write("a.txt", "both\n")
    desk.made.git("add", "a.txt")
    done = run(Rebase(desk.writer).go_on(call(), GO_ON))
    assert done.state == "done" and subjects(desk)[-1] == "resolved"


def test_a_conflict_is_skipped(desk: Desk) -> None:
    conflicting(desk)
    done = run(Rebase(desk.writer).skip(call(), GO_ON))
    assert done.state == "done" and len(subjects(desk)) == 4


def test_a_rebase_is_given_up_and_work_on_it_is_kept(desk: Desk) -> None:
    conflicting(desk)
    desk.made.write("a.txt", "half resolved\n")
    done = run(Rebase(desk.writer).abort(call(), GO_ON))
    assert (done.state, done.success) == ("aborted", False)
    assert desk.made.git("show", f"{done.delta.recovery}:a.txt") == b"half resolved\n"
    assert desk.made.git("log", "-1", "--format=%s") == b"clash\n"
    assert desk.made.git("symbolic-ref", "HEAD") == b"refs/heads/topic\n"


@requirement("GIT-12")
def test_an_abort_that_moves_the_branch_keeps_where_it_was(desk: Desk) -> None:
    conflicting(desk)
    tip = desk.made.git("rev-parse", "topic").decode().strip()
    desk.made.git("tag", "elsewhere", "topic~2")
    other = desk.made.git("rev-parse", "elsewhere").decode()
    desk.made.write(".git/rebase-merge/orig-head", other)
    done = run(Rebase(desk.writer).abort(call(), GO_ON))
    # As git does it; the commits that it took from the branch stay within reach, and are named.
    assert desk.made.git("rev-parse", "topic").decode() == other
    assert done.delta.recovery is not None
    assert tip in desk.made.git("rev-list", done.delta.recovery).decode()
    assert f"kept in {done.delta.recovery}" in done.delta.text()


def test_a_rebase_that_stopped_can_be_undone(desk: Desk) -> None:
    desk.made.write("a.txt", "of topic\n")
    desk.made.commit("clash")
    before = repository_state(desk.made)
    done = execute(desk, *[("pick", None)] * 5)
    assert done.state == "conflict"
    desk.undo(done.delta.mutation_id)
    assert repository_state(desk.made) == before


def test_plans_that_are_none_are_refused(desk: Desk) -> None:
    before = repository_state(desk.made)
    plan = planned(desk)
    shas = [step.commit_sha for step in plan.steps]

    def refused(*steps: StepGiven) -> None:
        with pytest.raises(InvalidArgument):
            given = PlanGiven(upstream=plan.upstream, onto=plan.onto, steps=steps)
            run(Rebase(desk.writer).execute(call(), RebaseExecuteRequest(plan=given)))

    picks = [StepGiven(commit_sha=sha) for sha in shas]
    refused(*picks[:3])
    refused(*picks, picks[0])
    refused(*picks[:3], StepGiven(commit_sha="main"))
    refused(StepGiven(action="squash", commit_sha=shas[0]), *picks[1:])
    refused(StepGiven(action="reword", commit_sha=shas[0]), *picks[1:])
    refused(StepGiven(action="pick", commit_sha=shas[0], message="x"), *picks[1:])
    assert repository_state(desk.made) == before
    for act in (Rebase(desk.writer).go_on, Rebase(desk.writer).skip, Rebase(desk.writer).abort):
        with pytest.raises(GitRefused):
            run(act(call(), GO_ON))
    desk.made.write("w", "work\n")
    with pytest.raises(GitRefused, match="unstaged changes"):
        execute(desk, *[("pick", None)] * 4)


def test_a_plan_can_come_back_as_it_was_given(desk: Desk) -> None:
    plan = planned(desk)
    steps = tuple(StepGiven(commit_sha=one.commit_sha, action=one.action, message=one.message) for one in plan.steps)
    given = PlanGiven(upstream=plan.upstream, onto=plan.onto, steps=steps)
    assert run(Rebase(desk.writer).execute(call(), RebaseExecuteRequest(plan=given))).state == "done"


def test_a_commit_without_changes_is_in_the_plan_whatever_upstream_has(tmp_path: Path) -> None:
    desk = simple(tmp_path)
    desk.made.git("checkout", "--quiet", "-b", "side")
    desk.made.commit("empty there")
    desk.made.git("checkout", "--quiet", "main")
    empty = desk.made.commit("empty here")
    plan = run(Rebase(desk.writer).plan(call(), RebasePlanRequest(upstream="side")))
    assert [step.commit_sha for step in plan.steps] == [empty]
