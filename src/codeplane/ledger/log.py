"""The event log in SQLite, with its projections."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from codeplane.kernel.clock import Clock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.errors import CodePlaneError, Overloaded, SharedLogMismatch, StreamGap, TooLarge
from codeplane.kernel.event import Appended, Draft, Event, Gap, Heartbeat, SealedPayload
from codeplane.kernel.event_log import EventQuery, EventScope
from codeplane.kernel.ids import digest
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.shared_log import SharedLog
from codeplane.kernel.trace import span
from codeplane.ledger import blobs
from codeplane.ledger.database import DatabaseFile, ReaderPool, last_position, open_writer, translate
from codeplane.ledger.encoding import DraftEncoder
from codeplane.ledger.event_queries import LogPage, hidden_streams, read_log, read_stream
from codeplane.ledger.job import Reply, StoredBlob
from codeplane.ledger.listeners import Handler, Listeners
from codeplane.ledger.order import LocalOrder, Order
from codeplane.ledger.own_actors import own_actors
from codeplane.ledger.projection import Projection, Projector
from codeplane.ledger.recent_events import Committed, RecentEvents
from codeplane.ledger.rows import Cell
from codeplane.ledger.shared_order import SharedOrder
from codeplane.ledger.subscriptions import Subscriptions
from codeplane.ledger.transaction import WriteTransaction
from codeplane.ledger.watchers import Watchers
from codeplane.ledger.writer import Writer

# The node of a log that no others share.
LOCAL_NODE = "local"
# Larger blobs and payloads stay with the node that stored them.
_SHARED_BYTES = 256 * 1024


@dataclass(slots=True)
class LogCounters:
    """Counters since the log was opened."""

    events: int = 0
    commits: int = 0
    commit_ns: int = 0
    lost: int = 0


class SqliteLog:
    """The event log on local disk; implements the ports EventLog, ProjectionStore and Blobs."""

    def __init__(
        self,
        *,
        path: Path,
        projections: Sequence[Projection],
        config: LedgerConfig,
        clock: Clock,
        on_commit: Callable[[int, int], None] | None = None,
        on_lost: Callable[[CodePlaneError], None] | None = None,
        redactor: Redactor | None = None,
        shared: SharedLog | None = None,
        seal: blobs.Seal | None = None,
    ) -> None:
        """`shared` orders the appends of several nodes, of which this is one; see `start`. `seal` is for what `put`
        stores."""
        self.path = path
        self._encoder = DraftEncoder(redactor=redactor or Redactor(), max_payload_bytes=config.max_payload_bytes)
        self.projector = Projector(projections)
        self.counters = LogCounters()
        self._config = config
        self._clock = clock
        self._seal = seal
        self._on_commit = on_commit
        self._on_lost = on_lost
        self._watchers = Watchers()
        self._listeners = Listeners()
        connection = open_writer(path)
        try:
            self.rebuilt = self.projector.catch_up(connection)
            position = last_position(connection)
            node, shared_offset, shared_log = connection.execute(
                "SELECT node, shared_offset, shared_log FROM log_state"
            ).fetchone()
            if shared_log and shared is None:
                raise SharedLogMismatch(
                    f"this ledger belongs to the shared log {shared_log}, and events of its own would part them",
                    hint="set ledger.shared to the folder of that log, or move .codeplane/ledger.db aside",
                )
        except sqlite3.Error as error:
            connection.close()
            raise translate(error, path) from error
        except BaseException:
            connection.close()
            raise
        self._recent = RecentEvents(position)
        self.file = DatabaseFile(path)
        self.readers = ReaderPool(path)
        self._writer = Writer(
            connection=connection,
            path=path,
            file=self.file,
            position=position,
            shared_offset=shared_offset,
            projector=self.projector,
            clock=clock,
            batch_events=config.batch_events,
            on_applied=self._listeners.deliver,
            on_commit=self._after_commit,
            on_lost=self._append_lost,
        )
        # The name of this node, the same over restarts.
        self.node = LOCAL_NODE if shared is None else str(node)
        self._shared: SharedOrder | None = None
        self._order: Order = LocalOrder(self._writer)
        if shared is not None:
            self._order = self._shared = SharedOrder(
                shared=shared,
                writer=self._writer,
                node=self.node,
                clock=clock,
                blob_bytes=config.blob_bytes,
                on_lost=self._append_lost,
            )
        self._subscriptions = Subscriptions(
            readers=self.readers, recent=self._recent, watchers=self._watchers, position=lambda: self._writer.position
        )

    @property
    def waiting(self) -> int:
        """Events in the queue."""
        return self._order.waiting

    @property
    def position(self) -> int:
        """The last durable position."""
        return self._writer.position

    @property
    def is_shared(self) -> bool:
        """Whether several nodes append to it."""
        return self._shared is not None

    @property
    def shared_offset(self) -> int:
        """The last batch of the shared log that is applied here."""
        return self._writer.shared_offset

    @property
    def problem(self) -> str:
        """Why this node does not keep up with a shared log; empty when it does."""
        error = self._shared.problem if self._shared is not None else None
        return f"{error.name}: {error.message}" if error is not None else ""

    def is_own(self, event: Event) -> bool:
        """Whether this node appended the event, also before the log was shared."""
        return event.node in ("", self.node)

    async def start(self) -> None:
        """Join the nodes of a shared log; returns when everything they appended so far is applied here."""
        if self._shared is not None:
            await self._shared.start()

    async def catch_up(self) -> None:
        """Return when what other nodes appended before is applied here."""
        if self._shared is not None:
            await self._shared.catch_up()

    async def stop(self) -> None:
        """Leave the shared log, after publishing what is queued."""
        if self._shared is not None:
            await self._shared.stop()

    def close(self) -> None:
        """Write what is queued and close the files; watchers end with ShuttingDown."""
        self._subscriptions.close()
        self.readers.close()
        # Last, so that SQLite checkpoints everything into one file.
        self._writer.close()

    async def append(
        self,
        drafts: Sequence[Draft],
        *,
        expect: Mapping[str, int] | None = None,
        sealed: Sequence[SealedPayload] = (),
    ) -> Appended:
        """Append all or none, with the payloads that the events have the hashes of, and return when durable."""
        if self._order.waiting >= self._config.queue_events:
            raise Overloaded(f"{self._order.waiting} events wait to be written")
        with span("sqlite.append", events=len(drafts)):
            append = self._encoder.encode(drafts, expect)
            if sealed and self._shared is not None:
                # Here first, since their bound is this node's to hold; small ones go to the others with the events.
                for payload in sealed:
                    await self.store_payload(payload)
                append.sealed = [payload for payload in sealed if len(payload.data) <= _SHARED_BYTES]
            else:
                append.sealed = sealed
            append.reply = Reply()
            self._order.submit(append)
            # Not shielded: a cancelled caller cancels this future, but not the write.
            return cast(Appended, await append.reply.future)

    async def store_payload(self, sealed: SealedPayload) -> None:
        """Store a single payload and return when it is durable; TooLarge when it does not fit its owner's bound."""
        if isinstance(refused := await self._writer.run(lambda writing: writing.store_payload(sealed)), TooLarge):
            raise refused

    def append_soon(self, drafts: Sequence[Draft]) -> bool:
        """Append without waiting; False when the queue is half full and the caller has to wait with `append`."""
        if self._order.waiting * 2 >= self._config.queue_events:
            return False
        self._order.submit(self._encoder.encode(drafts, None))
        return True

    def append_later(self, drafts: Sequence[Draft]) -> asyncio.Future[object] | None:
        """Append with the next append that somebody waits for, or soon; None when the queue is half full."""
        if self._order.waiting * 2 >= self._config.queue_events:
            return None
        append = self._encoder.encode(drafts, None)
        append.reply = Reply(is_urgent=False)
        self._order.submit(append)
        return append.reply.future

    async def command(self, run: Callable[[WriteTransaction], object]) -> object:
        """Run a function in the writer thread, in the order of the queue."""
        return await self._writer.run(run)

    async def flush(self) -> None:
        """Return when everything queued so far is durable."""
        await self._order.flush()

    async def read(self, *, stream: str, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events of one stream after a sequence, oldest first."""
        page = await self.readers.run(lambda connection: read_stream(connection, stream, after, limit))
        if isinstance(page, Gap):
            raise StreamGap(
                f"{stream} no longer holds what came after {after}",
                details={"stream": stream, "first_available": page.first_available},
            )
        return page

    async def query(self, query: EventQuery) -> list[Event]:
        """Events of the whole log that match, in the order of their positions."""
        return (await self.page(query)).events

    async def page(self, query: EventQuery) -> LogPage:
        """As `query`, with the last position of the log, which `position` can lag behind."""
        return await self.readers.run(lambda connection: read_log(connection, query))

    async def hidden_streams(self, streams: Sequence[str], scope: EventScope) -> list[str]:
        """The streams among these that a reader may not follow."""
        return await self.readers.run(partial(hidden_streams, streams=streams, scope=scope))

    async def own_actors(self, actors: Collection[str], scope: EventScope) -> frozenset[str]:
        """Those of the actors whose doings the reader may see: itself, and the work that it started."""
        return await self.readers.run(partial(own_actors, actors=actors, scope=scope))

    async def end(self) -> int:
        """The last position that can be read."""
        return await self.readers.run(last_position)

    async def select(self, statement: str, parameters: Sequence[Cell] = ()) -> list[tuple[Cell, ...]]:
        """Rows of the projections' tables."""
        return await self.readers.run(lambda connection: connection.execute(statement, parameters).fetchall())

    def lookup(self, statement: str, parameters: Sequence[Cell] = ()) -> list[tuple[Cell, ...]]:
        """A few rows that an index finds, read on the calling thread: the way to another costs more than they do."""
        return self.readers.lookup(statement, parameters)

    def watch(
        self, *, streams: Mapping[str, int], heartbeat_sec: float = 15.0
    ) -> AsyncGenerator[Event | Heartbeat | Gap, None]:
        """Events of the streams after the given sequences, and then as they happen."""
        return self._subscriptions.watch(streams=streams, heartbeat_sec=heartbeat_sec)

    def follow(
        self, query: EventQuery, *, heartbeat_sec: float = 15.0
    ) -> AsyncGenerator[Event | Heartbeat | Gap, None]:
        """Events of the whole log that match, after a position, and then as they happen."""
        return self._subscriptions.follow(query, heartbeat_sec=heartbeat_sec)

    def listen(self, types: Collection[str], handler: Handler) -> None:
        """Call the handler on this loop with every applied event of these types, in the order of the log.

        It has been called before the append that made the event returns.
        """
        self._listeners.add(types, handler)

    def put(self, data: bytes) -> str:
        """Store bytes by their hash and sealed, before anything that is appended afterwards."""
        key = digest(data)
        sealed = data if self._seal is None else self._seal.seal(data, key)
        blob = StoredBlob(key=key, at_ns=self._clock.now_ns(), data=sealed, limit=self._config.blob_bytes)
        if self._shared is not None and len(data) <= _SHARED_BYTES:
            self._shared.submit(blob)
        else:
            self._writer.submit(blob)
        return blob.key

    async def get(self, digest: str) -> bytes | None:
        """The bytes of that hash, or None."""
        data = await self.readers.run(lambda connection: blobs.load(connection, digest))
        return None if data is None else blobs.unsealed(data, digest, self._seal)

    def _append_lost(self, error: CodePlaneError) -> None:
        self.counters.lost += 1
        if self._on_lost is not None:
            self._on_lost(error)

    def _after_commit(self, committed: Sequence[Committed], spent_ns: int) -> None:
        self.counters.events += len(committed)
        self.counters.commits += 1
        self.counters.commit_ns += spent_ns
        try:
            if self._on_commit is not None:
                self._on_commit(len(committed), spent_ns)
        finally:
            if committed:
                self._recent.add(committed)
                self._watchers.wake([item.event for item in committed])
