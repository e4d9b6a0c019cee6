"""The writer thread: group commit, projections in the same transaction, acknowledgement after it."""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import CodePlaneError, ShuttingDown, StorageFailed
from codeplane.ledger.database import DatabaseFile
from codeplane.ledger.hand_over import run_on_loop
from codeplane.ledger.job import Append, Batch, Command, Job, Reply, StoredBlob, failure, is_rejection
from codeplane.ledger.projection import Projector
from codeplane.ledger.recent_events import Committed
from codeplane.ledger.transaction import WriteTransaction

LINGER_SEC = 0.02
# So many events, and things as large, are written on the loop: fewer wait for nothing, more would keep it too long.
_LEAST_ON_LOOP, _MOST_ON_LOOP = 4, 256
_MAX_CACHED_HEADS = 20_000
_LOGGER = logging.getLogger(__name__)


class Writer:
    """Owns the writing connection; all writes go through its queue."""

    def __init__(
        self,
        *,
        connection: sqlite3.Connection,
        path: Path,
        file: DatabaseFile,
        position: int,
        shared_offset: int,
        projector: Projector,
        clock: Clock,
        batch_events: int,
        on_applied: Callable[[Sequence[Committed]], None],
        on_commit: Callable[[Sequence[Committed], int], None],
        on_lost: Callable[[CodePlaneError], None],
    ) -> None:
        self._connection = connection
        self._path = path
        self._file = file
        self._projector = projector
        self._clock = clock
        self._batch_events = batch_events
        self._on_applied = on_applied
        self._on_commit = on_commit
        self._on_lost = on_lost
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._lingering = False
        self._awaited = threading.Event()
        self._closed = False
        self._heads: dict[str, int] = {}
        self._payload_bytes: dict[str, int] = {}
        self._position = position
        self._shared_offset = shared_offset
        self._thread = threading.Thread(target=self._run, name="codeplane-ledger", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Events in the queue."""
        return self._waiting

    @property
    def position(self) -> int:
        """The last position that is durable."""
        return self._position

    @property
    def shared_offset(self) -> int:
        """The last batch of the shared log that is applied and durable."""
        return self._shared_offset

    def submit(self, job: Job) -> None:
        """Queue a job; jobs are written in order."""
        with self._lock:
            if self._closed:
                raise ShuttingDown("the ledger is closed")
            self._waiting += job.weight
            self._queue.put(job)
        if self._lingering and _is_urgent(job):
            self._awaited.set()

    async def run(self, run: Callable[[WriteTransaction], object]) -> object:
        """Run a function in the writer's thread, in the order of the queue; returns when its write is durable."""
        reply = Reply()
        self.submit(Command(run=run, reply=reply))
        return await reply.future

    def close(self) -> None:
        """Write what is queued, then end."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._awaited.set()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while True:
            batch, last = self._collect()
            if batch:
                try:
                    self._write(batch)
                except Exception:
                    # A failing listener must not end the writer.
                    _LOGGER.exception("a listener of commits failed")
            if last:
                return

    def _collect(self) -> tuple[list[Job], bool]:
        job = self._queue.get()
        if job is None:
            return [], True
        batch = [job]
        last = self._drain(batch)
        if not last and not _is_awaited(batch):
            # Without a waiter, linger so that following jobs share the commit.
            self._awaited.clear()
            self._lingering = True
            last = self._drain(batch)
            if not last and not _is_awaited(batch):
                self._awaited.wait(LINGER_SEC)
            self._lingering = False
            last = last or self._drain(batch)
        return batch, last

    def _drain(self, batch: list[Job]) -> bool:
        """Add queued jobs up to a full batch; True when the writer is to end."""
        weight = sum(job.weight for job in batch)
        while weight < self._batch_events:
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                break
            if job is None:
                return True
            batch.append(job)
            weight += job.weight
        return False

    def _write(self, batch: list[Job]) -> None:
        started = self._clock.monotonic_ns()
        failed: CodePlaneError | None = None
        committed: Sequence[Committed] = ()
        try:
            outcomes, committed = self._commit(batch)
        except Exception as error:
            # Bisect a failed batch until the bad job fails alone.
            if len(batch) > 1:
                middle = len(batch) // 2
                try:
                    self._write(batch[:middle])
                finally:
                    self._write(batch[middle:])
                return
            try:
                if not isinstance(batch[0], Batch) or not is_rejection(error):
                    raise
                # One of its appends cannot be applied, here or elsewhere: the others are.
                outcomes, committed = self._commit(batch, apart=True)
            except Exception as last:
                failed = failure(last, self._path)
                outcomes = [failed]
        with self._lock:
            self._waiting -= sum(job.weight for job in batch)
        # First, so that caches have taken in an event when its append returns.
        self._on_applied(committed)
        self._acknowledge(zip(batch, outcomes, strict=True))
        if failed is None:
            self._on_commit(committed, self._clock.monotonic_ns() - started)

    def _commit(self, batch: list[Job], *, apart: bool = False) -> tuple[list[object], Sequence[Committed]]:
        # What is written to a deleted file is lost once it is closed.
        if problem := self._file.problem():
            raise StorageFailed(problem, hint="cpl doctor says what to do")
        if len(self._heads) > _MAX_CACHED_HEADS:
            self._heads.clear()
        if len(self._payload_bytes) > _MAX_CACHED_HEADS:
            self._payload_bytes.clear()
        writing = WriteTransaction(
            connection=self._connection,
            projector=self._projector,
            heads=self._heads,
            payload_bytes=self._payload_bytes,
            position=self.position,
            clock=self._clock,
            shared_offset=self._shared_offset,
        )
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            perform = partial(_perform, batch, writing, apart=apart)
            loop = _loop_of(batch)
            outcomes = perform() if loop is None else run_on_loop(loop, perform)
            if writing.shared_offset != self._shared_offset:
                self._connection.execute("UPDATE log_state SET shared_offset = ?", (writing.shared_offset,))
            self._connection.execute("COMMIT")
        except BaseException:
            self._heads.clear()
            self._payload_bytes.clear()
            self._projector.forget_position()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._position, self._shared_offset = writing.position, writing.shared_offset
        return outcomes, writing.committed

    def _acknowledge(self, outcomes: Iterable[tuple[Job, object]]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Reply, object]]] = {}
        lost: list[CodePlaneError] = []
        for job, outcome in _each(outcomes):
            if job.reply is not None:
                by_loop.setdefault(job.reply.loop, []).append((job.reply, outcome))
            elif isinstance(outcome, CodePlaneError):
                lost.append(outcome)
        for loop, replies in by_loop.items():
            try:
                loop.call_soon_threadsafe(_settle_all, replies)
            except RuntimeError:
                # The loop is closed: there is no waiter, and the write stays.
                continue
        for error in lost:
            self._on_lost(error)


def _perform(batch: Sequence[Job], writing: WriteTransaction, *, apart: bool) -> list[object]:
    """Write the jobs into the open transaction; returns how each ended."""
    outcomes = [job.perform(writing, apart=apart) if isinstance(job, Batch) else job.perform(writing) for job in batch]
    writing.flush()
    return outcomes


def _loop_of(batch: Sequence[Job]) -> asyncio.AbstractEventLoop | None:
    """The loop on which a batch is written; None for one that is written here.

    Each statement gives the interpreter's lock away and has to wait for the loop's thread to get it back, so what
    takes many statements is written on the loop. What may take long is not, nor what waits for nothing else.
    """
    if not _LEAST_ON_LOOP <= sum(job.weight for job in batch) <= _MOST_ON_LOOP:
        return None
    if not all(isinstance(job, StoredBlob) or (isinstance(job, Append) and job.is_short) for job in batch):
        return None
    return next((job.reply.loop for job in batch if job.reply is not None), None)


def _each(outcomes: Iterable[tuple[Job, object]]) -> Iterable[tuple[Job, object]]:
    """The outcomes of jobs, and of the appends of this node in a batch."""
    for job, outcome in outcomes:
        yield job, outcome
        if isinstance(job, Batch) and isinstance(outcome, list):
            yield from zip(job.own, outcome, strict=False)


def _is_awaited(batch: list[Job]) -> bool:
    return any(map(_is_urgent, batch))


def _is_urgent(job: Job) -> bool:
    return job.reply is not None and job.reply.is_urgent


def _settle_all(replies: list[tuple[Reply, object]]) -> None:
    for reply, outcome in replies:
        reply.settle(outcome)
