"""What the log is told of batches that were under way: each outcome once, under an id of its own."""

import asyncio
from pathlib import Path

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.json import JsonObject
from codeplane.ledger.log import SqliteLog
from codeplane.repo.edit.entry import Change
from codeplane.repo.edit.journal import Recovered
from codeplane.repo.edit.recovery import record
from tests.repo.edit.batches import Place, Steps, kept, killed


def interrupted(place: Place, mutation_id: str, path: str, at: int) -> None:
    changes = [Change(path=path, content=b"x = 1\n", before=None)]

    def work(step: Steps) -> None:
        place.journal(step).apply(mutation_id, kept(mutation_id), changes)

    assert killed(work, at=at)


def recorded(folder: Path, recovered: list[Recovered]) -> tuple[JsonObject, list[tuple[str, str]]]:
    async def run() -> tuple[JsonObject, list[tuple[str, str]]]:
        log = SqliteLog(path=folder / "ledger.db", projections=(), config=LedgerConfig(), clock=SystemClock())
        try:
            counts = await record(log, recovered)
            events = await log.read(stream="mutations")
            return counts, [(event.type, str(event.payload["mutation_id"])) for event in events]
        finally:
            await asyncio.to_thread(log.close)

    return asyncio.run(run())


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


def test_a_batch_that_cannot_be_ended_is_counted_and_no_outcome_is_claimed(tmp_path: Path) -> None:
    stuck = Recovered(journal_id="mut_0001", mutation_id="mut_0001", outcome="stuck", reason="read-only")
    assert recorded(tmp_path, [stuck]) == ({"mutations_stuck": 1}, [])
