"""The shared log in a folder: one order for all processes, for their user alone, and honest about what is gone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from codeplane.adapters.folder_log import FolderLog
from codeplane.kernel.errors import LedgerCorrupt, SharedLogGap, SharedLogMismatch, SharedLogUnavailable
from codeplane.kernel.shared_log import SharedBatch
from tests.interaction.requirements import requirement

pytestmark = requirement("SHR-01")


@asynccontextmanager
async def joined(folder: Path, node: str = "node_a") -> AsyncIterator[FolderLog]:
    log = FolderLog(folder, node=node)
    try:
        await log.connect(0)
        yield log
    finally:
        await log.close()


async def taken(log: FolderLog, after: int, count: int) -> list[SharedBatch]:
    """The next batches, as they come."""
    found: list[SharedBatch] = []
    async with aclosing(log.follow(after)) as batches:
        async for batch in batches:
            found.append(batch)
            if len(found) == count:
                break
    return found


async def test_all_follow_one_order_and_a_second_copy_has_the_first_offset(tmp_path: Path) -> None:
    async with joined(tmp_path / "s") as a, joined(tmp_path / "s", "node_b") as b:
        assert await a.end() == await a.start() == 0
        following = asyncio.ensure_future(taken(b, 0, 200))
        offsets = await asyncio.gather(
            *((a, b)[number % 2].publish(f"id-{number}", b"%d" % number) for number in range(200))
        )
        assert sorted(offsets) == list(range(1, 201))
        assert await following == await taken(a, 0, 200)
        assert await b.publish("id-7", b"again") == offsets[7]
        assert await a.end() == 200
        assert [batch.offset for batch in await taken(a, 150, 3)] == [151, 152, 153]
        assert await a.connect(5) == await b.connect(0)


async def test_it_is_for_its_user_alone(tmp_path: Path) -> None:
    folder, snapshot = tmp_path / "s", tmp_path / "ledger.db"
    folder.mkdir(mode=0o755)
    snapshot.write_bytes(b"a ledger")
    async with joined(folder) as log:
        await log.publish("1", b"x")
        await log.put_snapshot(1, snapshot)
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir() if path.is_file()}
        assert modes and set(modes.values()) == {0o600}
    async with joined(tmp_path / "new"):
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


async def test_its_nodes_have_one_key_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    logs = [FolderLog(tmp_path / "s", node=f"node_{number}") for number in range(8)]
    try:
        identities = await asyncio.gather(*(log.connect(0) for log in logs))
        assert len({identity.key for identity in identities}) == 1 and len(identities[0].key) == 32
    finally:
        for log in logs:
            await log.close()
    (tmp_path / "s" / "key").write_text("ab")
    with pytest.raises(LedgerCorrupt, match="holds no key"):
        async with joined(tmp_path / "s"):
            pass


@requirement("SHR-03")
async def test_only_what_a_snapshot_holds_is_trimmed_and_the_rest_is_a_gap(tmp_path: Path) -> None:
    snapshot, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    async with joined(tmp_path / "s") as log:
        for number in range(10):
            await log.publish(str(number), b"x")
        assert await log.get_snapshot(copy) is None
        await log.trim(8)
        assert (await log.start(), await log.end()) == (0, 10)
        for offset in (4, 6):
            snapshot.write_bytes(b"at %d" % offset)
            await log.put_snapshot(offset, snapshot)
        # An older one that comes late does not take the newest one's place.
        snapshot.write_bytes(b"at 5")
        await log.put_snapshot(5, snapshot)
        assert await log.get_snapshot(copy) == 6
        assert copy.read_bytes() == b"at 6"
        await log.trim(8)
        assert (await log.start(), await log.end()) == (6, 10)
        assert [batch.offset for batch in await taken(log, 6, 4)] == [7, 8, 9, 10]
        with pytest.raises(SharedLogGap):
            await taken(log, 5, 1)
        # Offsets are not given twice, even when everything was trimmed.
        await log.put_snapshot(10, snapshot)
        await log.trim(10)
        assert (await log.start(), await log.end()) == (10, 10)
        assert await log.publish("next", b"x") == 11


async def test_a_log_that_was_deleted_or_replaced_takes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    async with joined(folder) as log:
        await log.publish("1", b"x")
        for name in ("shared.db", "shared.db-wal", "shared.db-shm"):
            (folder / name).rename(tmp_path / name)
        with pytest.raises(SharedLogUnavailable, match="deleted or replaced"):
            await log.publish("2", b"x")
        async with joined(folder, "node_b") as other:
            with pytest.raises(SharedLogUnavailable, match="deleted or replaced"):
                await taken(log, 1, 1)
            assert await other.publish("1", b"x") == 1


@requirement("SHR-04")
async def test_a_node_joins_once(tmp_path: Path) -> None:
    async with joined(tmp_path / "s"):
        with pytest.raises(SharedLogMismatch):
            async with joined(tmp_path / "s"):
                pass
    async with joined(tmp_path / "s"):
        pass


async def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SharedLogUnavailable, match="file"):
        async with joined(tmp_path / "file" / "s"):
            pass
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "shared.db").write_bytes(b"not a database, but long enough to look at" * 100)
    with pytest.raises(LedgerCorrupt):
        async with joined(tmp_path / "s"):
            pass
