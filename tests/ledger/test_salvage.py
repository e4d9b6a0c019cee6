"""A damaged ledger: what can be read is kept, in unbroken streams, and the damaged file too."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from codeplane.adapters.sealed_bytes import SealedBytes
from codeplane.kernel.clock import SystemClock
from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.errors import LedgerCorrupt
from codeplane.kernel.event import Event, Gap
from codeplane.kernel.event_log import EventQuery
from codeplane.ledger.projection import differences
from codeplane.ledger.retention import Retention
from codeplane.ledger.salvage import examine, readable_rows, salvage
from tests.interaction.requirements import requirement
from tests.ledger.disks import damage
from tests.ledger.logs import Counts, n, opened, rows


async def filled(path: Path) -> list[Event]:
    async with opened(path) as log:
        await log.append([n("early", number) for number in range(10)])
        for start in range(0, 1000, 100):
            await log.append([n(f"s{number % 7}", number, text="x" * 200) for number in range(start, start + 100)])
        await log.append([n("late", number) for number in range(10)])
        log.put(b"a result")
        await log.flush()
        return await log.query(EventQuery(limit=10_000))


async def sound(path: Path) -> list[Event]:
    """The events of a ledger in which everything is as it should be."""
    assert examine(path).startswith("sound")
    async with opened(path) as log:
        broken = await log.select(
            """SELECT s.stream FROM streams s LEFT JOIN
               (SELECT stream, count(*) c, min(sequence) low, max(sequence) high FROM events GROUP BY stream) e
               ON e.stream = s.stream WHERE e.c != s.head - s.first + 1 OR e.low != s.first OR e.high != s.head"""
        )
        assert broken == []
        assert await log.readers.run(lambda connection: differences(connection, Counts())) == []
        return await log.query(EventQuery(limit=10_000))


@requirement("LOG-11")
async def test_what_can_be_read_is_kept_in_unbroken_streams(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    everything = await filled(path)
    damage(path, "events")
    damaged = path.read_bytes()
    with pytest.raises(LedgerCorrupt):
        examine(path)
    output = salvage(path)
    aside = tmp_path / "l.db.damaged-1"
    assert str(aside) in output
    assert aside.read_bytes() == damaged
    kept = await sound(path)
    assert f"{len(kept)} events kept" in output
    assert 500 < len(kept) < len(everything)
    assert all(event in everything for event in kept)
    assert [event for event in kept if event.stream == "late"] == [e for e in everything if e.stream == "late"]
    async with opened(path) as log:
        # A place that was given before is not given again.
        assert (await log.append([n("late")])).last_position == everything[-1].position + 1
        follow = log.follow(EventQuery(), heartbeat_sec=60)
        assert isinstance(await anext(follow), Gap)
        await follow.aclose()
        assert await log.get("0" * 64) is None
        (kept_blobs,) = (await log.select("SELECT count(*), blob_bytes FROM blobs, log_state"))[0:1]
        assert kept_blobs == (1, len(b"a result"))


@requirement("LOG-54")
async def test_sealed_results_are_kept(tmp_path: Path) -> None:
    path, seal = tmp_path / "l.db", SealedBytes(bytes(32))
    await filled(path)
    async with opened(path, seal=seal) as log:
        key = log.put(b"a sealed result")
        await log.flush()
    damage(path, "events")
    salvage(path)
    async with opened(path, seal=seal) as log:
        assert await log.get(key) == b"a sealed result"


async def test_a_ledger_of_an_older_version_is_kept_too(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    everything = await filled(path)
    with closing(sqlite3.connect(path)) as connection:
        # As a version without these columns wrote it.
        connection.execute("DROP INDEX events_by_work")
        connection.execute("ALTER TABLE events DROP COLUMN work_id")
        connection.execute("ALTER TABLE streams DROP COLUMN owner")
        connection.commit()
    damage(path, "events")
    salvage(path)
    kept = await sound(path)
    assert 500 < len(kept) < len(everything)
    async with opened(path) as log:
        owners = await log.select("SELECT DISTINCT owner FROM streams")
        assert owners == [(kept[0].actor,)]


async def test_an_undamaged_ledger_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    everything = await filled(path)
    salvage(path)
    assert await sound(path) == everything
    async with opened(path) as log:
        follow = log.follow(EventQuery(), heartbeat_sec=60)
        assert isinstance(await anext(follow), Event)
        await follow.aclose()


async def test_snapshots_are_kept_so_that_tables_survive_what_retention_dropped(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await filled(path)
    async with opened(path) as log:
        await Retention(log=log, config=RetentionConfig(), clock=SystemClock()).snapshot()
        before = await rows(log)
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM events WHERE stream = 'early'")
    connection.commit()
    connection.close()
    salvage(path)
    async with opened(path) as log:
        assert await rows(log) == before


async def test_what_is_in_the_wal_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    async with opened(path) as log:
        await log.append([n("a", number) for number in range(5)])
        names = [path.name, f"{path.name}-wal"]
        assert (tmp_path / names[1]).stat().st_size > 0
        (tmp_path / "killed").mkdir()
        for name in names:
            (tmp_path / "killed" / name).write_bytes((tmp_path / name).read_bytes())
    killed = tmp_path / "killed" / path.name
    assert salvage(killed).startswith("5 events kept")
    assert len(await sound(killed)) == 5
    left = {found.name for found in killed.parent.iterdir()}
    assert left == {"l.db", "l.db.damaged-1", "l.db.damaged-1-wal", "l.db.damaged-1-shm"} & left | {"l.db"}
    assert "l.db.damaged-1-wal" in left


async def test_rows_that_are_no_events_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await filled(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE events SET payload = '{' WHERE stream = 'late' AND sequence = 4")
    connection.execute("UPDATE events SET sequence = 'x' WHERE stream = 'early' AND sequence = 10")
    connection.execute("UPDATE blobs SET data = x'00'")
    connection.execute("UPDATE log_state SET last_position = 1152921504606846976")
    connection.commit()
    connection.close()
    salvage(path)
    kept = await sound(path)
    assert [event.sequence for event in kept if event.stream == "late"] == [5, 6, 7, 8, 9, 10]
    assert [event.sequence for event in kept if event.stream == "early"] == [*range(1, 10)]
    async with opened(path) as log:
        assert await log.select("SELECT count(*) FROM blobs") == [(0,)]
        assert (await log.append([n("late")])).last_position == 1021


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 1000, b"SQLite format 3\0" + b"\xff" * 20_000])
async def test_where_nothing_can_be_read_a_new_ledger_is_started(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "l.db"
    path.write_bytes(content)
    assert salvage(path).startswith("0 events kept")
    assert (tmp_path / "l.db.damaged-1").read_bytes() == content
    assert await sound(path) == []
    async with opened(path) as log:
        assert (await log.append([n("a")])).last_position == 1


def test_every_damaged_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    for number in (1, 2, 3):
        path.write_bytes(b"damaged" * 100 * number)
        assert str(tmp_path / f"l.db.damaged-{number}") in salvage(path)
    assert len(list(tmp_path.glob("l.db.damaged-*"))) == 3
    # Half a new one, as a crash leaves it, is in nobody's way.
    (tmp_path / "l.db.salvaged").write_bytes(b"half")
    assert salvage(path)
    assert not (tmp_path / "l.db.salvaged").exists()


async def test_a_table_whose_root_cannot_be_read_is_given_up_soon(tmp_path: Path) -> None:
    path = tmp_path / "l.db"
    await filled(path)
    damage(path, "events", slice(0, None))
    connection = sqlite3.connect(path)
    (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'events'").fetchone()
    connection.close()
    data = bytearray(path.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(data)
    statements: list[str] = []
    connection = sqlite3.connect(path)
    connection.set_trace_callback(statements.append)
    assert list(readable_rows(connection, "SELECT position FROM events", "position")) == []
    connection.close()
    assert 0 < len(statements) < 5000
    output = salvage(path)
    assert output.startswith("0 events kept")
