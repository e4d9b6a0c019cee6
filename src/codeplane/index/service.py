"""The index as a service: built at startup, kept fresh, reported and rebuilt on request."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol

from codeplane.index.archive import ArchivedFacts
from codeplane.index.content import ContentFile
from codeplane.index.derived_index import DerivedIndex
from codeplane.index.fact_store import FactStore
from codeplane.index.files.paths import path_text
from codeplane.index.freshness import SnapshotSource
from codeplane.index.fulltext import FullText
from codeplane.index.index_changes import Changes
from codeplane.index.indexer import Indexer
from codeplane.index.parser_pool import ParserPool
from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.index.update_loop import ParseBacklog, UpdateLoop
from codeplane.index.update_progress import Progress
from codeplane.index.vector_index import VectorIndex
from codeplane.kernel.call import Call
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import CodePlaneError, IndexNotReady
from codeplane.kernel.event import Draft
from codeplane.kernel.event_log import EventLog
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Budget, Result, Risk, operation
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace_request import WorkspaceRequest

STREAM = "index"
_NAMED = 50
_MANY = 500
_RETRY_SEC = 5.0


class Watcher(Protocol):
    """Reports touched files."""

    def watch_paths(self) -> AsyncIterator[set[str]]: ...


class Nothing(WorkspaceRequest):
    """No arguments."""


class RebuildResult(Result):
    """The state after everything was read again."""

    epoch: int
    files: int
    skipped: dict[str, int]

    def text(self) -> str:
        left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
        return f"epoch {self.epoch}: {plural(self.files, 'file')}" + (f"; left out: {left_out}" if left_out else "")


class IndexService:
    """Runs the indexer off the event loop and keeps it up to date with the disk."""

    def __init__(
        self,
        *,
        indexer: Callable[[Callable[[Snapshot, Changes], None], Callable[[ContentFile, IndexedFile], None]], Indexer],
        fresh: Callable[[Indexer], SnapshotSource],
        follower: Callable[[Callable[[Progress], None]], DerivedIndex],
        vectors: Callable[[FactStore], VectorIndex] | None,
        watcher: Watcher | None,
        log: EventLog,
        wait_sec: float,
        logger: Callable[[str, JsonObject], None],
        stream: str = STREAM,
    ) -> None:
        self._log = log
        self._stream = stream
        self._wait_sec = wait_sec
        self._log_note = logger
        self._watcher = watcher
        self._indexer = indexer(self._publish, lambda *read: self._following.derived.saw(*read))
        self._fresh = fresh(self._indexer)
        self._following = UpdateLoop(
            follower=follower,
            vectors=vectors,
            newest=lambda: self._indexer.snapshot,
            mend=self._mend,
            log=log,
            stream=stream,
            wait_sec=wait_sec,
            logger=logger,
        )
        self._ready = asyncio.Event()
        self._failure: str | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start indexing and watching, once."""
        if self._tasks:
            return
        self._tasks = [
            asyncio.create_task(self._build()),
            asyncio.create_task(self._watch()),
            asyncio.create_task(self._following.run()),
        ]

    async def stop(self) -> None:
        """Stop both and close the files."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._following.close()
        await asyncio.to_thread(self._indexer.close)

    async def wait_until_ready(self) -> SnapshotSource:
        """The source of snapshots once the index is ready; IndexNotReady after a timeout."""
        self.start()
        try:
            async with asyncio.timeout(self._wait_sec):
                await self._ready.wait()
        except TimeoutError as error:
            raise IndexNotReady(self._failure or "the first index is still being built") from error
        await self._mend()
        return self._fresh

    async def _mend(self) -> bool:
        """Rebuild if the content was changed from outside; return whether it was."""
        if self._indexer.is_whole() or not await asyncio.to_thread(self._indexer.mend):
            return False
        self._log_note("the index was remade", {"reason": "others changed its content"})
        return True

    def newest_snapshot(self) -> Snapshot | None:
        """The newest snapshot verified since startup, or None."""
        return self._indexer.snapshot if self._ready.is_set() else None

    @property
    def store(self) -> FactStore:
        """The facts of all files."""
        return self._following.derived.facts

    @property
    def text(self) -> FullText:
        """The ranked full text of all files."""
        return self._following.derived.text

    @property
    def parsers(self) -> ParserPool:
        """The pool of parser processes."""
        return self._following.derived.parsers

    @property
    def vectors(self) -> VectorIndex | None:
        """The vectors, unless switched off."""
        return self._following.vectors

    async def wait_for_facts(self, snapshot: Snapshot) -> ParseBacklog:
        """Wait, bounded, for a snapshot's facts."""
        return await self._following.wait_for_facts(snapshot)

    async def wait_for_vectors(self) -> None:
        """Wait briefly for the vectors."""
        await self._following.wait_for_vectors()

    def adopt(self, snapshot: Snapshot, packed: Iterator[ArchivedFacts]) -> tuple[int, int]:
        """Adopt an archive's facts of equal contents."""
        return self._following.derived.adopt(snapshot, packed)

    def still_to_parse(self, snapshot: Snapshot) -> int:
        """The number of files of a snapshot without facts."""
        return len(self._following.derived.files_without_facts(snapshot))

    def problems(self) -> list[str]:
        """Why queries cannot be answered yet."""
        if self._ready.is_set() or not self._tasks:
            return []
        return [f"INDEX_NOT_READY: {self._failure or 'the first index is being built'}"]

    def state(self, call: Call) -> JsonObject:
        """The index in the form of `status`."""
        return self.describe()

    def describe(self) -> JsonObject:
        """The state of the index outside a call."""
        snapshot, last = self._indexer.snapshot, self._indexer.last_reconcile
        if snapshot is None:
            return {"version": 0, "healthy": self._failure is None, "state": self._failure or "building"}
        symbols = self._following.state()
        skipped: JsonObject = dict(snapshot.count_skipped())
        parse_problems: JsonObject = dict(self._following.derived.facts.problem_counts())
        return {
            "version": snapshot.epoch,
            "commit": snapshot.commit,
            "file_count": len(snapshot.texts),
            "symbol_count": self.store.definition_count(),
            "size_bytes": self._indexer.size_bytes(),
            "included": snapshot.included,
            "skipped": skipped,
            "parse_problems": parse_problems,
            "last_updated": rfc3339(snapshot.verified_at_ns),
            "last_reconcile": {
                "at": rfc3339(last.at_ns),
                "kind": last.kind,
                "duration_ms": last.spent_ns // 1_000_000,
            }
            if last is not None
            else None,
            "last_error": self._failure or symbols.get("failure"),
            "watching": self._fresh.watching,
            "symbols": symbols,
            "healthy": self._failure is None,
        }

    @operation("index.rebuild", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=3600)
    async def rebuild(self, call: Call, request: Nothing) -> RebuildResult:
        """Read every file again and publish a new epoch; normally nothing needs this."""
        await asyncio.to_thread(self._following.derived.request_full_feed)
        snapshot = await asyncio.to_thread(self._indexer.rebuild)
        self._ready.set()
        return RebuildResult(epoch=snapshot.epoch, files=len(snapshot.texts), skipped=snapshot.count_skipped())

    async def _build(self) -> None:
        # Nothing tells when a disk has space again, so it is tried now and then.
        while not await self._try_build():  # noqa: ASYNC110
            await asyncio.sleep(_RETRY_SEC)
        if self._indexer.store.remade:
            self._log_note("the index was remade", {"reason": self._indexer.store.remade})
        self._failure = None
        self._ready.set()
        # An index that was whole when it was taken up publishes nothing.
        self._following.wake()

    async def _try_build(self) -> bool:
        try:
            await asyncio.to_thread(self._indexer.start)
        except Exception as error:  # whatever it was, giving up would leave the index "being built" for good
            reason = str(error) or type(error).__name__
            if reason != self._failure:
                self._log_note("indexing failed and is tried again", {"reason": reason})
            self._failure = reason
            return False
        return True

    async def _watch(self) -> None:
        await self._ready.wait()
        if self._watcher is None:
            return
        try:
            self._fresh.watching = True
            # What changed while nobody watched yet.
            await self._fresh.verify()
            async for touched in self._watcher.watch_paths():
                await self._look_at(touched)
        except (CodePlaneError, OSError, RuntimeError) as error:
            self._log_note("the disk is not watched; every answer walks it instead", {"reason": str(error)})
        finally:
            self._fresh.watching = False

    async def _look_at(self, touched: set[str]) -> None:
        known = self._indexer.snapshot
        plain = known is not None and len(touched) < _MANY and touched <= known.files.keys()
        if plain:
            await asyncio.to_thread(self._indexer.refresh, sorted(touched))
        else:
            # New names, ignore rules, a branch switch: only a walk tells what belongs.
            await self._fresh.verify()

    def _publish(self, snapshot: Snapshot, changes: Changes) -> None:
        self._following.wake()
        renamed = [list(map(path_text, pair)) for pair in changes.renamed[:_NAMED]]
        self._log.append_soon(
            [
                Draft(
                    stream=self._stream,
                    type="index.epoch_published",
                    payload={
                        "epoch": snapshot.epoch,
                        "commit": snapshot.commit,
                        "files": len(snapshot.files),
                        "changed": list(map(path_text, changes.changed[:_NAMED])),
                        "changed_count": len(changes.changed),
                        "removed": list(map(path_text, changes.removed[:_NAMED])),
                        "removed_count": len(changes.removed),
                        "renamed": renamed,
                    },
                )
            ]
        )
