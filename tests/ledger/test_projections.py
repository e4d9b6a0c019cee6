"""Projections: rebuilt when they have to be, guarded by position, from snapshots and the rest of the log."""

import asyncio
import sqlite3
from pathlib import Path
from typing import ClassVar

import pytest

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.errors import Internal
from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery
from codeplane.ledger import snapshots
from codeplane.ledger.database import open_writer
from codeplane.ledger.projection import Projector, Tables, differences, rebuild
from codeplane.ledger.retention import Retention
from tests.interaction.requirements import requirement
from tests.ledger.logs import Brittle, Counts, n, opened, rows

EXPECTED = [("a", 3, 6, b"a"), ("b", 1, 9, b"b")]


class Newer(Counts):
    """The same table, made in another way."""

    version: ClassVar[int] = 2

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == "n":
            tables.execute(
                """INSERT INTO counts VALUES (?1, 1, 1, NULL) ON CONFLICT(stream) DO UPDATE SET events = events + 1""",
                (event.stream,),
            )


async def fill(path: Path) -> None:
    async with opened(path) as log:
        await log.append([n("a", 1), n("a", 2), n("b", 9), n("a", 3)])
        assert await rows(log) == EXPECTED


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "damage",
    ["DROP TABLE counts", "UPDATE projections SET position = 2", "UPDATE projections SET position = 9",
     "DELETE FROM projections", "UPDATE projections SET version = 0"],
)  # fmt: skip
async def test_what_is_missing_or_not_where_the_log_is_is_rebuilt_at_the_start(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "l.db"
    await fill(path)
    change(path, "UPDATE counts SET total = 0" if "DROP" not in damage else "SELECT 1", damage)
    async with opened(path) as log:
        assert log.rebuilt == ([] if damage.startswith("DELETE") else ["counts"])
        assert await rows(log) == EXPECTED
        await log.append([n("b", 1)])
        assert await rows(log) == [EXPECTED[0], ("b", 2, 10, b"b")]


async def test_what_is_sound_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await fill(path)
    change(path, "UPDATE counts SET total = 0")
    async with opened(path) as log:
        assert log.rebuilt == []
        assert [row[2] for row in await rows(log)] == [0, 0]


async def test_another_version_is_rebuilt_from_the_log_and_not_from_an_old_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "l.db"

    async def before() -> None:
        async with opened(path) as log:
            await log.append([n("a", 5), n("a", 5)])
            await Retention(log=log, config=RetentionConfig(), clock=SystemClock()).snapshot()

    async def after() -> None:
        async with opened(path, projections=(Newer(),)) as log:
            assert log.rebuilt == ["counts"]
            assert await rows(log) == [("a", 2, 1, None)]

    await before()
    await after()


@requirement("LOG-04")
async def test_a_rebuild_is_the_newest_snapshot_and_the_events_after_it(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    async with opened(path) as log:
        retention = Retention(log=log, config=RetentionConfig(), clock=SystemClock())
        for number in range(4):
            await log.append([n("a", number), n(f"s{number}", 1)])
            assert await retention.snapshot() == log.position
        await log.append([n("a", 100)])
        kept = await log.select("SELECT position FROM snapshots ORDER BY position")
        assert kept == [(6,), (8,)]
        expected = await rows(log)

    # What came before the snapshot is no longer asked for.
    change(path, "DELETE FROM events WHERE position <= 8", "DROP TABLE counts")
    async with opened(path) as log:
        assert log.rebuilt == ["counts"]
        assert await rows(log) == expected
        assert await log.readers.run(lambda connection: differences(connection, Counts())) == []


def test_a_large_table_survives_its_snapshot(tmp_path: Path) -> None:
    connection = open_writer(tmp_path / "l.db")
    connection.execute("CREATE TABLE t(a INTEGER, b TEXT, c BLOB, d REAL)")
    cells = [(i, f"ü\n{i}", bytes([i % 256]) * 3, i / 7) for i in range(1234)] + [(None, None, None, None)]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", cells)
    data = snapshots.capture(connection, ["t"])
    snapshots.store(connection, name="p", version=1, position=5, at_ns=0, data=data)
    connection.execute("DELETE FROM t")
    assert snapshots.restore(connection, "p", 2) == 0
    assert snapshots.restore(connection, "other", 1) == 0
    assert snapshots.restore(connection, "p", 1) == 5
    assert connection.execute("SELECT * FROM t").fetchall() == cells
    connection.close()


async def test_applying_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await fill(path)
    async with opened(path) as log:
        events = await log.query(EventQuery())
    connection = open_writer(path)
    projector = Projector([Counts()])
    assert projector.catch_up(connection) == []
    for _ in range(2):
        projector.apply(connection, events)
        projector.apply(connection, events[1:])
    assert sorted(connection.execute("SELECT * FROM counts").fetchall()) == EXPECTED
    connection.close()


async def test_a_difference_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await fill(path)
    connection = open_writer(path)
    assert differences(connection, Counts()) == []
    connection.execute("UPDATE counts SET total = total + 1 WHERE stream = 'b'")
    assert differences(connection, Counts()) == ["counts"]
    rebuild(connection, Counts())
    assert differences(connection, Counts()) == []
    connection.execute("DELETE FROM counts WHERE stream = 'a'")
    assert differences(connection, Counts()) == ["counts"]
    connection.close()


async def test_a_projection_that_cannot_be_rebuilt_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    async with opened(path) as log:
        await log.append([n("a", 1, poison=True), n("a", 2)])
    with pytest.raises(Internal, match="brittle"):
        async with opened(path, projections=(Counts(), Brittle())):
            pass
    async with opened(path) as log:
        assert await rows(log) == [("a", 2, 3, b"a")]


async def test_tables_are_never_ahead_of_the_log_for_a_reader(tmp_path: Path) -> None:
    async with opened(tmp_path / "l.db") as log:

        def both(connection: sqlite3.Connection) -> tuple[int, int]:
            (events,) = connection.execute("SELECT count(*) FROM events").fetchone()
            (counted,) = connection.execute("SELECT coalesce(sum(events), 0) FROM counts").fetchone()
            return events, counted

        writing = asyncio.gather(*(log.append([n(f"s{i % 7}")]) for i in range(300)))
        while not writing.done():
            events, counted = await log.readers.run(both)
            assert events == counted
        await writing
