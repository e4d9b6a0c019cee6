"""Freshness of answers: snapshots verified by walks, the watcher's hints and checks of named files."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from codeplane.disk.short_work import ShortWork
from codeplane.index.indexer import Indexer
from codeplane.index.snapshot import Snapshot
from codeplane.kernel.clock import SECOND_NS, Clock

_LOOKS = 3
_FEW = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How current an answer is."""

    stale: tuple[str, ...]
    verified_sec_ago: float
    watched: bool


class SnapshotSource:
    """Gives queries a snapshot, and checks afterwards that it is still current."""

    def __init__(self, *, indexer: Indexer, clock: Clock, verify_after_sec: float) -> None:
        self._indexer = indexer
        self._short = ShortWork(indexer.root)
        self._clock = clock
        self._verify_after_sec = verify_after_sec
        self._walk: asyncio.Task[Snapshot] | None = None
        self._refreshing: asyncio.Task[Snapshot] | None = None
        self._next_refresh: asyncio.Task[Snapshot] | None = None
        self._to_refresh: dict[str, None] = {}
        self.watching = False

    async def snapshot(self, *, strict: bool) -> Snapshot:
        """The newest snapshot; walks the disk first if `strict` or unwatched."""
        current = self._indexer.snapshot
        if current is None or strict or not self.watching:
            return await self.verify()
        if self._age_sec(current) > self._verify_after_sec:
            # In time for the next question; this one is checked file by file.
            self._begin_walk()
        return current

    async def verify(self) -> Snapshot:
        """Walk the disk; concurrent callers share a walk that started after their call."""
        if self._walk is not None and not self._walk.done():
            await asyncio.wait({self._walk})
        return await asyncio.shield(self._begin_walk())

    async def recheck(self, snapshot: Snapshot, paths: Iterable[str]) -> Snapshot | None:
        """A newer snapshot if any of the paths changed, else None."""
        named = list(paths)
        changed = await self._short.run_if(len(named) <= _FEW, partial(self._indexer.find_changed, snapshot, named))
        return await self.refresh(changed) if changed else None

    def find_changes(self, snapshot: Snapshot, paths: Iterable[str]) -> list[str]:
        """The paths that changed since the snapshot; blocks."""
        return self._indexer.find_changed(snapshot, paths)

    async def refresh(self, paths: list[str]) -> Snapshot:
        """Re-read changed files and return the new snapshot; callers that come while others are read share the next."""
        self._to_refresh.update(dict.fromkeys(paths))
        if self._next_refresh is None:
            self._next_refresh = asyncio.create_task(self._refresh_all(self._refreshing))
        return await asyncio.shield(self._next_refresh)

    async def _refresh_all(self, before: "asyncio.Task[Snapshot] | None") -> Snapshot:
        if before is not None:
            await asyncio.wait({before})
        paths, self._to_refresh = list(self._to_refresh), {}
        self._refreshing, self._next_refresh = self._next_refresh, None
        return await asyncio.to_thread(self._indexer.refresh, paths)

    def of(self, snapshot: Snapshot, stale: Iterable[str] = ()) -> Freshness:
        """The freshness of an answer from this snapshot."""
        return Freshness(stale=tuple(stale), verified_sec_ago=round(self._age_sec(snapshot), 1), watched=self.watching)

    @property
    def looks(self) -> int:
        """How often a query retries before it answers as stale."""
        return _LOOKS

    def _age_sec(self, snapshot: Snapshot) -> float:
        return max(0.0, (self._clock.now_ns() - snapshot.verified_at_ns) / SECOND_NS)

    def _begin_walk(self) -> "asyncio.Task[Snapshot]":
        if self._walk is None or self._walk.done():
            self._walk = asyncio.create_task(asyncio.to_thread(self._indexer.reconcile))
        return self._walk
