"""What the log is told of batches that were under way: each outcome once, under an id of its own."""

import asyncio
from dataclasses import replace
from pathlib import Path

from codeplane.edit.batch import Change
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.edit.recovery_events import record_recovered
from codeplane.edit.reversal import reverse_batch
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.json import JsonObject
from codeplane.ledger.log import SqliteLog
from tests.edit.batches import MUTATION, Place, Steps, kept, killed, undoing
from tests.interaction.requirements import requirement


def interrupted(place: Place, mutation_id: str, path: str, at: int) -> None:
    changes = [Change(path=path, content=b"x = 1\n", before=None)]

    def work(step: Steps) -> None:
        place.journal(step).apply(mutation_id, kept(mutation_id), changes)

    assert killed(work, at=at)


def recorded(
    folder: Path, recovered: list[RecoveredMutation], kept: MutationStore | None = None
) -> tuple[JsonObject, list[tuple[str, str]]]:
    async def run() -> tuple[JsonObject, list[tuple[str, str]]]:
        log = SqliteLog(path=folder / "ledger.db", projections=(), config=LedgerConfig(), clock=SystemClock())
        try:
            counts = await record_recovered(log, recovered, kept)
            events = await log.read(stream="mutations")
            return counts, [(event.type, str(event.payload["mutation_id"])) for event in events]
        finally:
            await asyncio.to_thread(log.close)

    return asyncio.run(run())


@requirement("EDT-08")
def test_missing_outcomes_are_appended_once(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    interrupted(place, "mut_0001", "early.py", 0)
    interrupted(place, "mut_0002", "late.py", 8)
    recovered = place.recover()
    assert [(found.mutation_id, found.outcome) for found in recovered] == [
        ("mut_0001", "rolled_back"),
        ("mut_0002", "applied"),
    ]
    assert not (place.root / "early.py").exists() and (place.root / "late.py").exists()
    counts, events = recorded(tmp_path, recovered)
    assert counts == {"mutations_rolled_back": 1, "mutations_applied": 1}
    assert events == [("mutation.rolled_back", "mut_0001"), ("mutation.applied", "mut_0002")]
    _, again = recorded(tmp_path, recovered)
    assert again == events
    assert recorded(tmp_path, []) == ({}, events)


@requirement("EDT-08")
def test_a_batch_that_cannot_be_ended_is_counted_and_no_outcome_is_claimed(tmp_path: Path) -> None:
    stuck = RecoveredMutation(journal_id="mut_0001", mutation_id="mut_0001", outcome="stuck", reason="read-only")
    assert recorded(tmp_path, [stuck]) == ({"mutations_stuck": 1}, [])


@requirement("EDT-08")
def test_what_is_kept_but_was_never_told_is_told_once(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    # The run ends right after the batch is kept, before anybody could tell the log.
    place.journal().apply(MUTATION, kept(), [Change(path="a.py", content=b"x = 1\n", before=None)])
    assert place.recover() == []
    made = [("mutation.applied", MUTATION)]
    assert recorded(tmp_path, [], place.kept) == ({"mutations_recorded": 1}, made)
    assert recorded(tmp_path, [], place.kept) == ({}, made)
    undoing(place)(lambda name: None)
    undone = [*made, ("mutation.undone", MUTATION)]
    assert recorded(tmp_path, [], place.kept) == ({"mutations_recorded": 1}, undone)
    found = place.kept.get(MUTATION)
    assert found is not None
    again = reverse_batch(place.root, place.kept.folder_of(MUTATION), found)
    place.journal().apply("mut_0003", again.kept, again.changes, dropped=again.dropped)
    redone = [*undone, ("mutation.redone", MUTATION)]
    assert recorded(tmp_path, [], place.kept) == ({"mutations_recorded": 1}, redone)
    assert recorded(tmp_path, [], place.kept) == ({}, redone)


@requirement("EDT-08")
def test_what_was_under_way_and_is_kept_now_is_told_once(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    interrupted(place, "mut_0002", "late.py", 8)
    recovered = place.recover()
    counts, events = recorded(tmp_path, recovered, place.kept)
    assert counts == {"mutations_applied": 1} and events == [("mutation.applied", "mut_0002")]
    assert recorded(tmp_path, [], place.kept) == ({}, events)


@requirement("EDT-08")
def test_mutations_of_git_have_no_outcome_to_be_told(tmp_path: Path) -> None:
    place = Place.at(tmp_path)
    place.kept.add(replace(kept(), kind="git"))
    assert recorded(tmp_path, [], place.kept) == ({}, [])
