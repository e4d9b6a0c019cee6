"""The witness of the soak test finds what it is there to find."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.rows import COLUMNS
from tests.interaction.requirements import requirement
from tests.soak.promises import Promise
from tests.soak.witness import Witness

pytestmark = requirement("LOG-13")

KEPT = Promise(call_id="call_1", facts=(("task/1", "task.opened"),))


def fact(kind: str, stream: str, call_id: str, **payload: object) -> Draft:
    content: JsonObject = dict(payload)  # type: ignore[arg-type]  # tests pass plain JSON values
    return Draft(stream=stream, type=kind, payload=content, correlation=Correlation(call_id=call_id, session_id="s"))


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A log with one whole call and one that was cut off."""

    async def write() -> None:
        log = SqliteLog(path=tmp_path / "ledger.db", projections=(), config=LedgerConfig(), clock=SystemClock())
        await log.append(
            [
                fact("call.started", "task/1", "call_1", idempotency_key="key"),
                fact("task.opened", "task/1", "call_1", description="key"),
                fact("call.finished", "task/1", "call_1", status="ok"),
                fact("call.started", "task/2", "call_2"),
            ]
        )
        await asyncio.to_thread(log.close)

    asyncio.run(write())
    return tmp_path / "ledger.db"


def change(ledger: Path, statement: str) -> None:
    connection = sqlite3.connect(ledger)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_promise_that_was_kept_is_held(ledger: Path) -> None:
    witness = Witness(ledger)
    witness.look()
    assert witness.position == 4
    assert witness.hold([KEPT]) == 1


@pytest.mark.parametrize(
    "promise",
    [
        Promise(call_id="call_2", facts=()),
        Promise(call_id="call_3", facts=()),
        Promise(call_id="call_1", facts=(("task/1", "task.closed"),)),
    ],
    ids=["without an outcome", "without a trace", "without its fact"],
)
def test_a_promise_that_was_broken_is_found(ledger: Path, promise: Promise) -> None:
    witness = Witness(ledger)
    witness.look()
    with pytest.raises(AssertionError, match="acknowledged, but"):
        witness.hold([promise])


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM events WHERE position = 2",
        "UPDATE events SET sequence = 7 WHERE position = 4",
        "DELETE FROM events WHERE position = 1",
    ],
)
def test_a_gap_is_found(ledger: Path, damage: str) -> None:
    change(ledger, damage)
    with pytest.raises(AssertionError):
        Witness(ledger).look()


def test_an_event_that_goes_after_it_was_seen_is_found(ledger: Path) -> None:
    witness = Witness(ledger)
    witness.look()
    change(ledger, "DELETE FROM events WHERE position = 2")
    with pytest.raises(AssertionError, match="gone or there twice"):
        witness.look()


class Keys:
    """What a user of keys believes."""

    def __init__(self, done: dict[str, str], unknown: frozenset[str] = frozenset()) -> None:
        self.done, self.unknown, self.unsure = done, unknown, frozenset[str]()


def second_run(ledger: Path) -> None:
    change(
        ledger,
        f"""INSERT INTO events({COLUMNS})
           SELECT 5, stream, 4, 'another', type, schema, at_ns, actor, source, content_trust, session_id, 'call_9',
                  task_id, thread_id, turn_id, job_id, work_id, node, payload FROM events WHERE position = 1""",
    )


def untouched(ledger: Path) -> None:
    return None


@pytest.mark.parametrize(
    ("prepare", "keys", "fits"),
    [
        (untouched, Keys({"key": "s"}), True),
        (untouched, Keys({}, frozenset({"key"})), True),
        (untouched, Keys({"key": "another session"}), False),
        (untouched, Keys({"a key that never ran": "s"}), False),
        (second_run, Keys({"key": "s"}), False),
    ],
)
def test_a_key_that_ran_twice_or_gave_another_answer_is_found(
    ledger: Path, prepare: Callable[[Path], None], keys: Keys, fits: bool
) -> None:
    prepare(ledger)
    witness = Witness(ledger)
    witness.look()
    if fits:
        witness.hold_keys(keys)
    else:
        with pytest.raises(AssertionError):
            witness.hold_keys(keys)


class Watched:
    """What a watcher was shown."""

    def __init__(self, seen: dict[int, str]) -> None:
        self.seen = seen


def test_a_watcher_that_saw_another_event_is_found(ledger: Path) -> None:
    witness = Witness(ledger)
    witness.look()
    with pytest.raises(AssertionError, match="another event"):
        witness.hold_watch(Watched({1: "made up"}))
