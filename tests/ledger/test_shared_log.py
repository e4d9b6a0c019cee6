"""Several nodes on one shared log: each keeps its own ledger, and all of them come out equal."""

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.errors import (
    Internal,
    SchemaTooNew,
    SequenceConflict,
    SharedLogMismatch,
    SharedLogUnavailable,
    StorageFull,
    TooLarge,
)
from codeplane.kernel.event import Event
from codeplane.ledger.database import SCHEMA_VERSION
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import differences
from codeplane.ledger.retention import Retention
from codeplane.ledger.shared_join import join_shared, share_snapshot
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.ledger.disks import small_disk
from tests.ledger.logs import Brittle, Counts, n, opened, rows
from tests.ledger.shared_logs import content, node, shared_store
from tests.ledger.test_full_disk import fill

pytestmark = requirement("SHR-01")


async def act(log: SqliteLog, seed: int, count: int) -> int:
    """Append at random, often with an expectation that may be wrong; returns how many were refused."""
    chance, refused = random.Random(seed), 0

    async def one(number: int) -> None:
        nonlocal refused
        streams = [f"task/{chance.randrange(8)}" for _ in range(chance.randrange(1, 4))]
        expect = None
        if chance.random() < 0.5:
            ((head,),) = await log.select("SELECT coalesce(max(head), 0) FROM streams WHERE stream = ?", (streams[0],))
            expect = {streams[0]: int(str(head))}
        try:
            appended = await log.append([n(stream, number) for stream in streams], expect=expect)
            assert len(appended.sequences) == len(streams)
        except SequenceConflict:
            refused += 1

    for start in range(0, count, 10):
        await asyncio.gather(*(one(number) for number in range(start, min(start + 10, count))))
    return refused


async def level(*logs: SqliteLog) -> None:
    """Let every node apply what any of them published."""
    for log in logs:
        await log.flush()
    for log in logs:
        await log.catch_up()


async def caught_up(log: SqliteLog) -> None:
    """Wait until a node with a full disk goes on."""
    while True:
        try:
            await log.catch_up()
        except StorageFull:
            continue
        return


async def test_what_one_appends_all_have(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    async with node(shared, first) as a, node(shared, second) as b:
        assert a.node != b.node
        assert (await a.append([n("task/1", 5), n("task/2", 6)])).sequences == (1, 1)
        await b.catch_up()
        assert (await b.append([n("task/1", 7)])).sequences == (2,)
        await a.catch_up()
        assert [event.node for event in await a.read(stream="task/1")] == [a.node, b.node]
        assert await rows(a) == await rows(b) == [("task/1", 2, 12, b"task/1"), ("task/2", 1, 6, b"task/2")]
        a.append_soon([n("task/3")])
        key = a.put(b"an answer")
        await a.flush()
        await b.catch_up()
        assert await b.get(key) == b"an answer"
        assert len(await b.read(stream="task/3")) == 1
        await level(a, b)
    assert content(first) == content(second)


async def test_of_two_that_expect_the_same_one_wins_on_both(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    async with node(shared, first) as a, node(shared, second) as b:
        for number in range(40):
            outcomes = await asyncio.gather(
                *(log.append([n(f"work/{number}", 1)], expect={f"work/{number}": 0}) for log in (a, b)),
                return_exceptions=True,
            )
            assert sorted(type(found).__name__ for found in outcomes) == ["Appended", "SequenceConflict"]
        await level(a, b)
    assert content(first) == content(second)


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_random_appends_over_a_bad_network_come_out_equal(tmp_path: Path, seed: int) -> None:
    shared, paths = tmp_path / "shared", [tmp_path / "a.db", tmp_path / "b.db"]
    for turn in range(2):
        async with (
            node(shared, paths[0], faults=seed + turn) as a,
            node(shared, paths[1], faults=seed + 10 + turn) as b,
        ):
            refused = await asyncio.gather(act(a, seed, 60), act(b, seed + 1, 60))
            assert sum(refused) > 0
            await level(a, b)
            for log in (a, b):
                assert await log.readers.run(lambda connection: differences(connection, Counts())) == []
    assert content(paths[0]) == content(paths[1])


async def test_an_append_that_no_table_takes_is_refused_everywhere(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    tables = (Counts(), Brittle())
    async with node(shared, first, projections=tables) as a, node(shared, second, projections=tables) as b:
        outcomes = await asyncio.gather(
            a.append([n("x", 1)]),
            a.append([n("x", 2, poison=True)]),
            a.append([n("x", 3)]),
            return_exceptions=True,
        )
        assert [type(found).__name__ for found in outcomes] == ["Appended", "Internal", "Appended"]
        assert isinstance(outcomes[1], Internal)
        await level(a, b)
        assert await rows(b) == [("x", 2, 4, b"x")]
    assert content(first, "brittle") == content(second, "brittle")


async def test_a_node_that_was_away_catches_up_before_it_serves(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    async with node(shared, second) as b:
        await b.append([n("task/1")])
    async with node(shared, first) as a:
        await asyncio.gather(*(a.append([n("task/1", number)]) for number in range(50)))
        async with node(shared, second) as b:
            assert len(await b.read(stream="task/1")) == 51
            assert b.node != a.node
            await level(a, b)
    assert content(first) == content(second)


async def test_the_clock_of_a_node_changes_no_order(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    ahead, behind = ManualClock(), ManualClock()
    ahead.jump(100 * 86_400.0)
    async with node(shared, first, clock=ahead) as a, node(shared, second, clock=behind) as b:
        await a.append([n("task/1", 1)])
        behind.jump(-400 * 86_400.0)
        await b.append([n("task/1", 2)])
        await a.append([n("task/1", 3)])
        await level(a, b)
        events: list[Event] = await b.read(stream="task/1")
        assert [event.payload["n"] for event in events] == [1, 2, 3]
        assert events[1].at_ns + 400 * 86_400 * SECOND_NS < events[0].at_ns
    assert content(first) == content(second)


async def test_what_one_forgets_all_forget(tmp_path: Path) -> None:
    shared, first, second, third = (tmp_path / name for name in ("shared", "a.db", "b.db", "c.db"))
    clock = ManualClock()
    async with node(shared, first, clock=clock) as a, node(shared, second, clock=clock) as b:
        await a.append([n("task/1"), n("task/1"), n("audit")])
        clock.advance(20 * 86_400.0)
        await b.append([n("task/2", 3)])
        retention = Retention(log=a, config=RetentionConfig(), clock=clock)
        assert await retention.apply() == {"streams": 1, "events": 2}
        await b.catch_up()
        assert await Retention(log=b, config=RetentionConfig(), clock=clock).ran_within(60)
        assert await rows(b) == [("audit", 1, 1, b"audit"), ("task/2", 1, 3, b"task/2")]
        # B took no snapshot of its own before, and can rebuild its tables all the same.
        assert await b.readers.run(lambda connection: differences(connection, Counts())) == []
        async with node(shared, third, clock=clock) as c:
            await level(a, b, c)
    assert content(first) == content(second) == content(third)


@requirement("SHR-02")
async def test_a_full_disk_stops_its_node_and_no_other(tmp_path: Path) -> None:
    shared, first = tmp_path / "shared", tmp_path / "a.db"
    with small_disk(tmp_path / "disk", "4m") as disk:
        second = disk / "b.db"
        async with node(shared, first) as a, node(shared, second) as b:
            await b.append([n("task/1")])
            ballast = await asyncio.to_thread(fill, disk)
            await a.append([n("task/2", number, text="x" * 20_000) for number in range(20)])
            with pytest.raises(StorageFull):
                await b.catch_up()
            assert b.problem.startswith("STORAGE_FULL")
            with pytest.raises(StorageFull):
                await b.append([n("task/1")])
            # Nothing of the batch is there, and the others go on.
            assert await b.read(stream="task/2") == []
            assert (await a.append([n("task/1")])).sequences == (2,)
            ballast.unlink()
            await caught_up(b)
            assert (await b.append([n("task/1")])).sequences == (3,)
            await level(a, b)
        assert content(first) == content(second)


async def test_a_log_that_cannot_be_reached_is_said_and_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codeplane.ledger.shared_order.PUBLISH_SEC", 0.1)
    shared, first = tmp_path / "shared", tmp_path / "a.db"
    async with node(shared, first) as a:
        await a.append([n("task/1")])
        with closing(sqlite3.connect(shared / "shared.db")) as other:
            other.execute("ALTER TABLE batches RENAME TO gone")
            with pytest.raises(SharedLogUnavailable):
                await a.append([n("task/1")])
            assert a.problem.startswith("SHARED_LOG_UNAVAILABLE")
            other.execute("ALTER TABLE gone RENAME TO batches")
        assert (await a.append([n("task/1")])).sequences == (2,)
        assert a.problem == ""


async def test_an_append_that_is_too_large_for_a_message_is_refused(tmp_path: Path) -> None:
    async with node(tmp_path / "shared", tmp_path / "a.db") as a:
        with pytest.raises(TooLarge):
            await a.append([n("task/1", number, text="x" * 200_000) for number in range(50)])
        assert (await a.append([n("task/1")])).sequences == (1,)


@requirement("SHR-03")
async def test_a_new_node_starts_from_a_snapshot(tmp_path: Path) -> None:
    shared, first, second, third = (tmp_path / name for name in ("shared", "a.db", "b.db", "c.db"))
    async with node(shared, second) as b:
        own = b.node
        await b.append([n("task/0")])
        key = b.put(b"x" * 400_000)
        await b.flush()
    async with node(shared, first) as a:
        await act(a, 7, 60)
        store = await shared_store(shared, tmp_path / "other.db")
        try:
            ((log_id,),) = await a.select("SELECT shared_log FROM log_state")
            assert await share_snapshot(store, first, log_id=str(log_id)) is None
            offset = await share_snapshot(store, first, log_id=str(log_id), every=1)
            assert offset == a.shared_offset == await store.start() == await store.end()
        finally:
            await store.close()
        await a.append([n("task/0")])
        # One that was away for too long starts again from it, and one that is new does.
        async with node(shared, second) as b, node(shared, third) as c:
            assert b.node == own
            assert await b.get(key) == b"x" * 400_000
            assert len({a.node, b.node, c.node}) == 3
            assert await rows(a) == await rows(b) == await rows(c)
            assert (await c.append([n("task/0")])).sequences == ((await a.append([n("task/0")])).sequences[0] - 1,)
            await level(a, b, c)
    assert content(first) == content(second) == content(third)


@requirement("SHR-03")
async def test_a_ledger_with_a_past_founds_a_shared_log(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    async with opened(first) as log:
        await log.append([n("task/1", 1), n("task/1", 2)])
        assert log.node == "local"
    async with node(shared, first) as a, node(shared, second) as b:
        assert await rows(b) == await rows(a) == [("task/1", 2, 3, b"task/1")]
        assert (await b.append([n("task/1", 3)])).sequences == (3,)
        assert [a.is_own(event) for event in await a.read(stream="task/1", limit=2)] == [True, True]
        await level(a, b)
    assert content(first) == content(second)


@requirement("SHR-04")
async def test_ledgers_that_are_no_part_of_the_log_are_refused(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    async with node(shared, first) as a:
        await a.append([n("task/1")])
        # The same node twice, as a copied folder would be.
        with pytest.raises(SharedLogMismatch, match="another process"):
            async with node(shared, first):
                pass
    async with opened(second) as log:
        await log.append([n("task/9")])
    with pytest.raises(SharedLogMismatch, match="events of its own"):
        async with node(shared, second):
            pass
    with pytest.raises(SharedLogMismatch, match="belongs to log_"):
        async with node(tmp_path / "another", first):
            pass
    # Alone it would go another way than the others.
    with pytest.raises(SharedLogMismatch, match="would part them"):
        async with opened(first):
            pass
    async with node(shared, first) as a:
        assert (await a.append([n("task/1")])).sequences == (2,)


@requirement("SHR-04")
async def test_a_snapshot_or_a_batch_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    shared, first, second = tmp_path / "shared", tmp_path / "a.db", tmp_path / "b.db"
    async with opened(first) as log:
        await log.append([n("task/1")])
    async with node(shared, first) as a:
        await a.append([n("task/1")])
        snapshot = shared / "snapshot-0.db"
        with closing(sqlite3.connect(snapshot)) as connection:
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
        with pytest.raises(SchemaTooNew):
            async with node(shared, second):
                pass
        with closing(sqlite3.connect(snapshot)) as connection:
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        async with node(shared, second) as b:
            assert len(await b.read(stream="task/1")) == 2
            store = await shared_store(shared, tmp_path / "other.db")
            try:
                await join_shared(store, tmp_path / "other.db")
                newer = b'{"schema":%d,"batch":"b","node":"x","entries":[]}' % (SCHEMA_VERSION + 1)
                await store.publish("b", newer)
                with pytest.raises(SchemaTooNew):
                    await b.catch_up()
                assert b.problem.startswith("SCHEMA_TOO_NEW")
                with pytest.raises(SchemaTooNew):
                    await b.append([n("task/1")])
            finally:
                await store.close()
