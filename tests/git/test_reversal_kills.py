"""Kill -9 before every step of an undo or redo of a git mutation, and in the recovery from it."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from codeplane.git.write.call_endings import CallEndings
from codeplane.git.write.pending_reversals import PendingReversals, StartedReversal, Verb
from codeplane.git.write.reversal_recovery import Outcome, ReversalRecovery
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.ports import Ending
from tests.edit.batches import killed, quick_folder
from tests.git.desk import call, repository_state, run
from tests.git.killed_mutations import Scene, Step, Stopped
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, asking
from tests.query.asking import result

pytestmark = requirement("GIT-40")
UNDONE = ["checkout", "create", "merge", "stop", "reset", "stash", "commit"]
REDONE = ["checkout", "create", "stash"]


@pytest.fixture
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    with quick_folder() as folder:
        yield Scene(folder, request.param)


def turn(desk: Stopped, verb: Verb, step: Step = lambda name: None) -> None:
    again = Stopped(desk.made, step=step)
    (record,) = again.mutations.all()
    (again.undo if verb == "undo" else again.redo)(record.mutation_id)


def recover(desk: Stopped, step: Step = lambda name: None) -> list[tuple[StartedReversal, Outcome, str]]:
    next_run, found = Stopped(desk.made, step=step), list[tuple[StartedReversal, Outcome, str]]()
    recovery = ReversalRecovery(next_run.writer.undo_parts, next_run.reversal, lambda *each: found.append(each))
    run(recovery.recover())
    return found


def ending(desk: Stopped, verb: Verb) -> Ending:
    endings = CallEndings(
        log=cast(EventLog, _NoEvents()),
        journaled=(verb,),
        recovered=(),
        mutations=desk.mutations,
        notes={call_id: note for call_id, note in desk.pending.notes().items() if note.what == verb},
    )
    # Records of before the call do not count.
    return run(endings.of(call().call_id, verb, 2**62))


class _NoEvents:
    async def query(self, query: object) -> list[object]:
        return []


def prepared(scene: Scene, verb: Verb) -> Stopped:
    """A copy in which the mutation is done, and undone before a redo."""
    desk = scene.mutated()
    if verb == "redo":
        turn(desk, "undo")
    (desk.pending_folder.with_name(f"{desk.pending_folder.name}-ended") / call().call_id).unlink(missing_ok=True)
    _rename_call(desk)
    return desk


def _rename_call(desk: Stopped) -> None:
    """Make the mutation one of another call than the one that reverses it."""
    (record,) = desk.mutations.all()
    manifest = desk.mutations.folder_of(record.mutation_id) / "kept.json"
    manifest.write_text(manifest.read_text().replace('"call_id":"call_1"', '"call_id":"call_0"'))


@pytest.mark.parametrize(
    ("scene", "verb"),
    [*((kind, "undo") for kind in UNDONE), *((kind, "redo") for kind in REDONE)],
    indirect=["scene"],
)
def test_it_is_done_completely_or_not_at_all(scene: Scene, verb: Verb) -> None:
    steps: list[str] = []
    start = repository_state((whole := prepared(scene, verb)).made)
    turn(whole, verb, steps.append)
    goal = repository_state(whole.made)
    assert start != goal
    outcomes = []
    for at in range(steps.index("reversal begun"), len(steps)):
        desk = prepared(scene, verb)
        assert killed(lambda step, desk=desk: turn(desk, verb, step), at=at), steps[at]  # type: ignore[misc]
        found = recover(desk)
        state = repository_state(desk.made)
        assert state in (start, goal), (at, steps[at])
        outcomes.append("done" if state == goal else "not_done")
        assert [(outcome, reason) for _, outcome, reason in found] in ([], [(outcomes[-1], "")]), (at, steps[at])
        assert ending(desk, verb).state == outcomes[-1], (at, steps[at])
        (record,) = desk.mutations.all()
        assert (record.state == ("undone" if verb == "undo" else "applied")) == (outcomes[-1] == "done")
        assert recover(desk) == []
        assert b"-begun" not in desk.made.git("for-each-ref")
        if verb == "undo" and outcomes[-1] == "not_done":
            turn(desk, verb)
            assert repository_state(desk.made) == goal
    assert outcomes == sorted(outcomes, reverse=True) and set(outcomes) == {"done", "not_done"}


@pytest.mark.parametrize("scene", ["create"], indirect=True)
def test_killed_again_in_recovery(scene: Scene) -> None:
    steps: list[str] = []
    turn(whole := prepared(scene, "undo"), "undo", steps.append)
    goal = repository_state(whole.made)
    for at in range(1_000):
        desk = prepared(scene, "undo")
        assert killed(lambda step, desk=desk: turn(desk, "undo", step), at=steps.index("files restored"))  # type: ignore[misc]

        def recovery(step: Step, desk: Stopped = desk) -> None:
            recover(desk, step)

        if not killed(recovery, at=at):
            break
        recover(desk)
        assert repository_state(desk.made) == goal
        assert ending(desk, "undo").state == "done"
    assert at > 5


@pytest.mark.parametrize("scene", ["checkout"], indirect=True)
def test_files_that_were_written_only_in_part(scene: Scene) -> None:
    steps: list[str] = []
    turn(whole := prepared(scene, "undo"), "undo", steps.append)
    desk = prepared(scene, "undo")
    assert killed(lambda step: turn(desk, "undo", step), at=steps.index("files restored"))
    # As if killed earlier: one file is on the old side, one on the new, one was being written.
    desk.made.path("a.txt").write_bytes(desk.made.git("show", "topic:a.txt"))
    desk.made.write(".codeplane-part_0123456789abcdef", "half")
    assert [outcome for _, outcome, _ in recover(desk)] == ["done"]
    assert repository_state(desk.made) == repository_state(whole.made)


@pytest.mark.parametrize("scene", ["checkout"], indirect=True)
def test_an_index_that_git_wrote_only_in_part(scene: Scene) -> None:
    steps: list[str] = []
    turn(whole := prepared(scene, "undo"), "undo", steps.append)
    desk = prepared(scene, "undo")
    assert killed(lambda step: turn(desk, "undo", step), at=steps.index("files restored"))
    # Git takes the end of a pipe for the end of the list: removals come first.
    desk.made.git("rm", "--cached", "--quiet", "t.txt")
    assert [outcome for _, outcome, _ in recover(desk)] == ["done"]
    assert repository_state(desk.made) == repository_state(whole.made)


@pytest.mark.parametrize("scene", ["checkout"], indirect=True)
def test_what_others_changed_since_is_left_and_named(scene: Scene) -> None:
    steps: list[str] = []
    turn(whole := prepared(scene, "undo"), "undo", steps.append)
    desk = prepared(scene, "undo")
    assert killed(lambda step: turn(desk, "undo", step), at=steps.index("files restored"))
    restored = desk.made.path("a.txt").read_bytes()
    desk.made.write("a.txt", "edited while nobody was there\n")
    ((started, outcome, reason),) = recover(desk)
    assert outcome == "half_done"
    assert "changed since: a.txt" in reason and f"call undo with mutation_id: {started.mutation_id}" in reason
    assert desk.made.path("a.txt").read_text() == "edited while nobody was there\n"
    assert ending(desk, "undo") == Ending(state="unknown", mutation_id=started.mutation_id, reason=reason)
    # As it says: put back, and undone to the end.
    desk.made.path("a.txt").write_bytes(restored)
    turn(desk, "undo")
    assert repository_state(desk.made) == repository_state(whole.made)


def test_files_that_cannot_be_read_claim_nothing(tmp_path: Path) -> None:
    other = '{"mutation_id":"mut_1","verb":"undo","call_id":"call_1"}'
    for name, content in (("mut_1.part", "{}"), ("mut_2", "{"), ("mut_3", other)):
        (tmp_path / name).write_text(content)
    pending = PendingReversals(tmp_path)
    assert not pending.is_empty
    assert pending.all() == [] and pending.is_empty


@pytest.mark.parametrize("scene", ["checkout"], indirect=True)
async def test_the_next_start_finishes_it(scene: Scene, tmp_path: Path) -> None:
    def half() -> Stopped:
        steps: list[str] = []
        turn(prepared(scene, "undo"), "undo", steps.append)
        desk = prepared(scene, "undo")
        assert killed(lambda step: turn(desk, "undo", step), at=steps.index("files restored"))
        return desk

    desk = await asyncio.to_thread(half)
    root = tmp_path / "repository"
    shutil.copytree(desk.made.root, root, symlinks=True)
    shutil.copytree(f"{desk.pending_folder}-reversals", root / ".codeplane" / "git-reversals")
    shutil.copytree(desk.made.root.parent / "repository.undo", root / ".codeplane" / "undo")
    async with asking(root, caller=OWNER) as ask:
        (kept,) = result(await ask("mutation.list"))["mutations"]  # type: ignore[misc,str-unpack]  # JSON
        assert kept["state"] == "undone"  # type: ignore[index,call-overload]
        status = result(await ask("git.status"))
        assert status["branch"] == "main", status
    assert (root / "a.txt").read_text() == "line 3\nsecond\nthird\n"
