"""Nodes on one shared log, and a shared log that fails as networks do."""

import asyncio
import random
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path

from codeplane.adapters.folder_log import FolderLog
from codeplane.kernel.clock import Clock, SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.errors import SharedLogUnavailable
from codeplane.kernel.shared_log import SharedBatch, SharedIdentity, SharedStore
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import Projection
from codeplane.ledger.shared_join import LedgerState, join_shared
from tests.ledger.logs import Counts


class FaultyLog:
    """A shared log behind a bad network: slow, with dropped connections and second deliveries, by a seed."""

    def __init__(self, inner: SharedStore, seed: int, *, rate: float = 0.2) -> None:
        self._inner = inner
        self._random = random.Random(seed)
        self._rate = rate
        self._copies = 0
        self.faults = 0

    async def connect(self, base: int) -> SharedIdentity:
        return await self._inner.connect(base)

    async def publish(self, batch_id: str, data: bytes) -> int:
        self._fail("before it was taken")
        if self._due():
            # The answer is lost, and the next try adds a second copy at another offset.
            self._copies += 1
            await self._inner.publish(f"{batch_id}#{self._copies}", data)
            self.faults += 1
            raise SharedLogUnavailable("the connection dropped after it was taken")
        for _ in range(self._random.randrange(3)):
            await asyncio.sleep(0)
        return await self._inner.publish(batch_id, data)

    async def follow(self, after: int) -> AsyncGenerator[SharedBatch, None]:
        last: SharedBatch | None = None
        async for batch in self._inner.follow(after):
            self._fail("while following")
            yield batch
            if last is not None and self._due():
                self.faults += 1
                yield last
                yield batch
            last = batch

    async def start(self) -> int:
        return await self._inner.start()

    async def end(self) -> int:
        return await self._inner.end()

    async def trim(self, before: int) -> None:
        await self._inner.trim(before)

    async def close(self) -> None:
        await self._inner.close()

    async def put_snapshot(self, offset: int, file: Path) -> None:
        await self._inner.put_snapshot(offset, file)

    async def get_snapshot(self, file: Path) -> int | None:
        return await self._inner.get_snapshot(file)

    def _due(self) -> bool:
        return self._random.random() < self._rate

    def _fail(self, when: str) -> None:
        if self._due():
            self.faults += 1
            raise SharedLogUnavailable(f"the connection dropped {when}")


async def shared_store(folder: Path, path: Path) -> FolderLog:
    """The shared log in a folder, for the ledger in a file."""
    state = await asyncio.to_thread(LedgerState.at, path)
    return FolderLog(folder, node=state.node)


@asynccontextmanager
async def node(
    folder: Path,
    path: Path,
    *,
    faults: int | None = None,
    projections: Sequence[Projection] = (),
    clock: Clock | None = None,
    **config: int,
) -> AsyncIterator[SqliteLog]:
    """A node on the shared log in a folder; `faults` is the seed of a bad network."""
    store: SharedStore = await shared_store(folder, path)
    if faults is not None:
        store = FaultyLog(store, faults)
    try:
        await join_shared(store, path)
        log = SqliteLog(
            path=path,
            projections=projections or (Counts(),),
            config=LedgerConfig(**config),
            clock=clock or SystemClock(),
            shared=store,
        )
    except BaseException:
        await store.close()
        raise
    try:
        await log.start()
        yield log
    finally:
        await log.stop()
        await asyncio.to_thread(log.close)


def content(path: Path, *more: str) -> dict[str, list[tuple[object, ...]]]:
    """Everything that has to be equal on all nodes, row by row."""
    found: dict[str, list[tuple[object, ...]]] = {}
    with closing(sqlite3.connect(path)) as connection:
        for table in ("events", "streams", "shared_batches", "counts", *more):
            found[table] = sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
        found["log"] = connection.execute(
            "SELECT last_position, dropped_position, shared_offset, shared_log FROM log_state"
        ).fetchall()
    return found
