"""The order of a log that several nodes share: publishes this node's appends, and applies everyone's by offset."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import CodePlaneError, SharedLogUnavailable, ShuttingDown, TooLarge
from codeplane.kernel.ids import uuid7
from codeplane.kernel.shared_log import SharedBatch, SharedLog
from codeplane.ledger.job import Append, Batch, Entry, Reply, StoredBlob
from codeplane.ledger.shared_message import SharedMessage, decode, encode, stamp
from codeplane.ledger.writer import Writer

# A message carries several appends, each atomic, up to these bounds.
_MAX_ENTRIES = 500
_GROUP_BYTES = 512 * 1024
_MAX_ENTRY_BYTES = 8 * 1024 * 1024
_READ_AHEAD = 64
# How long an append waits for a log that cannot be reached.
PUBLISH_SEC = 30.0
_FIRST_PAUSE_SEC, _LONGEST_PAUSE_SEC = 0.05, 2.0
_STALLED_PAUSE_SEC = 1.0
_STOP_SEC = 5.0


class SharedOrder:
    """Sends appends out and takes them back in the order of all nodes; an append is decided when it is applied."""

    def __init__(
        self,
        *,
        shared: SharedLog,
        writer: Writer,
        node: str,
        clock: Clock,
        blob_bytes: int,
        on_lost: Callable[[CodePlaneError], None],
    ) -> None:
        self._shared = shared
        self._writer = writer
        self._node = node
        self._clock = clock
        self._blob_bytes = blob_bytes
        self._on_lost = on_lost
        self._lock = threading.Lock()
        self._outbox: deque[Entry] = deque()
        self._unsent = 0
        # Published or being published, by batch; their events are not applied yet.
        self._pending: dict[str, Sequence[Entry]] = {}
        self._arrived: asyncio.Queue[tuple[int, SharedBatch]] = asyncio.Queue(_READ_AHEAD)
        self._wake = asyncio.Event()
        self._advanced = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._is_closed = False
        # Why nothing is applied, and why nothing arrives or leaves.
        self._stalled: CodePlaneError | None = None
        self._unreached: CodePlaneError | None = None

    @property
    def waiting(self) -> int:
        """Events that are not applied yet."""
        return self._unsent + self._writer.waiting

    @property
    def problem(self) -> CodePlaneError | None:
        """Why this node does not keep up with the others, if it does not."""
        return self._stalled or self._unreached

    async def start(self) -> None:
        """Follow the shared log; returns when everything that is in it now is applied here."""
        self._loop = asyncio.get_running_loop()
        loops = (self._publish(), self._read(), self._apply())
        self._tasks = [asyncio.ensure_future(loop) for loop in loops]
        await self.catch_up()

    async def catch_up(self) -> None:
        """Return when this node has applied what the shared log holds at this moment."""
        end = await self._shared.end()
        while self._writer.shared_offset < end:
            if self._stalled is not None:
                raise self._stalled
            self._advanced.clear()
            # Now and then, since what fails elsewhere does not wake this.
            with suppress(TimeoutError):
                async with asyncio.timeout(_STALLED_PAUSE_SEC):
                    await self._advanced.wait()

    async def stop(self) -> None:
        """Publish what is queued, as far as that can be done soon, and disconnect."""
        if self._loop is not None:
            with suppress(TimeoutError, CodePlaneError):
                async with asyncio.timeout(_STOP_SEC):
                    await self.flush()
        with self._lock:
            self._is_closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        closed = ShuttingDown("the ledger is closed")
        for entries in [*self._pending.values(), [*self._outbox]]:
            self._fail(entries, closed)
        await self._shared.close()

    def submit(self, entry: Entry) -> None:
        """Queue an append or a blob; raises while this node cannot apply anything."""
        if self._stalled is not None:
            raise self._stalled
        if (size := _size_of(entry)) > _MAX_ENTRY_BYTES:
            raise TooLarge(f"an append has {size} bytes", details={"limit": _MAX_ENTRY_BYTES})
        with self._lock:
            if self._is_closed or self._loop is None:
                raise ShuttingDown("the ledger is closed")
            self._outbox.append(entry)
            self._unsent += entry.weight
        self._loop.call_soon_threadsafe(self._wake.set)

    async def flush(self) -> None:
        """Return when everything queued so far has been decided, and can be read."""
        if self._outbox or self._pending:
            empty = Append(drafts=(), payloads=(), reply=(reply := Reply()))
            self.submit(empty)
            await reply.future
        await self._writer.run(lambda writing: None)

    async def _publish(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._outbox:
                await self._send(self._take())

    def _take(self) -> Sequence[Entry]:
        """The next entries that go into one message."""
        entries: list[Entry] = []
        size = 0
        with self._lock:
            while self._outbox and len(entries) < _MAX_ENTRIES and size < _GROUP_BYTES:
                entry = self._outbox.popleft()
                size += _size_of(entry)
                entries.append(entry)
        return entries

    async def _send(self, entries: Sequence[Entry]) -> None:
        """Publish a message, again and again while the log cannot be reached: a second copy changes nothing."""
        batch_id, loop = uuid7(), asyncio.get_running_loop()
        entries = [stamp(entry, self._clock) if isinstance(entry, Append) else entry for entry in entries]
        data = encode(SharedMessage(batch_id=batch_id, node=self._node, entries=entries))
        self._pending[batch_id] = entries
        until, pause = loop.time() + PUBLISH_SEC, _FIRST_PAUSE_SEC
        while True:
            try:
                await self._shared.publish(batch_id, data)
                self._unreached = None
                return
            except SharedLogUnavailable as error:
                self._unreached = error
                if loop.time() > until:
                    self._fail(self._pending.pop(batch_id, ()), error)
                    return
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SEC)
            except CodePlaneError as error:
                self._fail(self._pending.pop(batch_id, ()), error)
                return

    async def _read(self) -> None:
        """Take batches from the shared log, connecting again whenever the connection drops."""
        after, pause = self._writer.shared_offset, _FIRST_PAUSE_SEC
        while True:
            try:
                async for batch in self._shared.follow(after):
                    self._unreached, pause = None, _FIRST_PAUSE_SEC
                    if batch.offset > after:
                        await self._arrived.put((after, batch))
                        after = batch.offset
            except SharedLogUnavailable as error:
                self._unreached = error
            except CodePlaneError as error:
                # Nothing can be applied behind a gap.
                self._stall(error)
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SEC)

    async def _apply(self) -> None:
        """Apply batches in groups as they arrive."""
        while True:
            arrived = [await self._arrived.get()]
            while not self._arrived.empty():
                arrived.append(self._arrived.get_nowait())
            batches: list[Batch] = []
            for after, batch in arrived:
                try:
                    batches.append(self._decode_batch(after, batch))
                except CodePlaneError as error:
                    await self._perform(batches)
                    self._stall(error)
                    return
            await self._perform(batches)

    def _decode_batch(self, after: int, batch: SharedBatch) -> Batch:
        message = decode(batch.data, blob_bytes=self._blob_bytes)
        own = self._pending.pop(message.batch_id, ()) if message.node == self._node else ()
        return Batch(
            batch_id=message.batch_id,
            node=message.node,
            after=after,
            offset=batch.offset,
            entries=message.entries,
            own=own,
        )

    async def _perform(self, batches: list[Batch]) -> None:
        """Apply batches; while the disk fails, nothing else is applied, and they are tried again."""
        own = [batch for batch in batches if batch.own]
        while batches:
            for batch in batches:
                batch.reply = Reply()
                self._writer.submit(batch)
            outcomes = await asyncio.gather(
                *(batch.reply.future for batch in batches if batch.reply is not None), return_exceptions=True
            )
            failed = [(batch, found) for batch, found in zip(batches, outcomes, strict=True) if _is_error(found)]
            if failed:
                error = failed[0][1]
                assert isinstance(error, BaseException)
                if not isinstance(error, CodePlaneError):
                    raise error
                for batch, _ in failed:
                    self._fail(batch.own, error)
                    batch.own = ()
                self._stall(error)
                await asyncio.sleep(_STALLED_PAUSE_SEC)
            batches = [batch for batch, _ in failed]
        for batch in own:
            self._release_weight(batch.own)
        self._stalled = None
        self._advanced.set()

    def _stall(self, error: CodePlaneError) -> None:
        """Refuse appends from now on: this node cannot say how they are decided."""
        self._stalled = error
        self._advanced.set()
        for batch_id in [*self._pending]:
            self._fail(self._pending.pop(batch_id), error)

    def _fail(self, entries: Sequence[Entry], error: CodePlaneError) -> None:
        for entry in entries:
            if entry.reply is not None:
                entry.reply.loop.call_soon_threadsafe(entry.reply.settle, error)
            elif not isinstance(entry, StoredBlob):
                self._on_lost(error)
        self._release_weight(entries)

    def _release_weight(self, entries: Sequence[Entry]) -> None:
        with self._lock:
            self._unsent -= sum(entry.weight for entry in entries)


def _is_error(found: object) -> bool:
    return isinstance(found, BaseException)


def _size_of(entry: Entry) -> int:
    if isinstance(entry, StoredBlob):
        return len(entry.data)
    return sum(map(len, entry.payloads)) + sum(len(payload.data) for payload in entry.sealed)
