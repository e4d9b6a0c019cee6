"""The event log in SQLite, with its projections."""

import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from codeplane.kernel.clock import Clock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.errors import (
    CodePlaneError,
    InvalidArgument,
    MalformedRequest,
    Overloaded,
    ShuttingDown,
    StreamGap,
    TooLarge,
)
from codeplane.kernel.event import Appended, Draft, Event, Gap, Heartbeat
from codeplane.kernel.event_log import EventQuery, EventScope
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.redaction import Redactor
from codeplane.kernel.trace import span
from codeplane.ledger import blobs
from codeplane.ledger.database import DatabaseFile, ReaderPool, last_position, open_writer, translate
from codeplane.ledger.event_queries import LogPage, hidden_streams, read_log, read_stream
from codeplane.ledger.projection import Projection, Projector
from codeplane.ledger.recent_events import Committed, RecentEvents, is_plain, matches
from codeplane.ledger.rows import Cell
from codeplane.ledger.watchers import Watchers
from codeplane.ledger.writer import Append, Command, Job, Reply, Writer, WriteTransaction

_WATCH_PAGE = 500


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
    ) -> None:
        self.path = path
        self._redactor = redactor or Redactor()
        self.projector = Projector(projections)
        self.counters = LogCounters()
        self._config = config
        self._clock = clock
        self._on_commit = on_commit
        self._on_lost = on_lost
        self._watchers = Watchers()
        self._is_closed = False
        connection = open_writer(path)
        try:
            self.rebuilt = self.projector.catch_up(connection)
            position = last_position(connection)
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
            projector=self.projector,
            clock=clock,
            batch_events=config.batch_events,
            on_commit=self._committed,
            on_lost=self._append_lost,
        )

    @property
    def waiting(self) -> int:
        """Events in the queue."""
        return self._writer.waiting

    @property
    def position(self) -> int:
        """The last durable position."""
        return self._writer.position

    def close(self) -> None:
        """Write what is queued and close the files; watchers end with ShuttingDown."""
        self._is_closed = True
        self.readers.close()
        self._watchers.wake()
        # Last, so that SQLite checkpoints everything into one file.
        self._writer.close()

    async def append(self, drafts: Sequence[Draft], *, expect: Mapping[str, int] | None = None) -> Appended:
        """Append all or none and return when durable."""
        if self._writer.waiting >= self._config.queue_events:
            raise Overloaded(f"{self._writer.waiting} events wait to be written")
        with span("sqlite.append", events=len(drafts)):
            return cast(Appended, await self._submit(self._encoded(drafts, expect)))

    def append_soon(self, drafts: Sequence[Draft]) -> bool:
        """Append without waiting; False when the queue is half full and the caller has to wait with `append`."""
        if self._writer.waiting * 2 >= self._config.queue_events:
            return False
        self._writer.submit(self._encoded(drafts, None))
        return True

    async def command(self, run: Callable[[WriteTransaction], object]) -> object:
        """Run a function in the writer thread, in the order of the queue."""
        return await self._submit(Command(run=run))

    async def flush(self) -> None:
        """Return when everything queued so far is durable."""
        await self.command(lambda writing: writing.position)

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

    async def end(self) -> int:
        """The last position that can be read."""
        return await self.readers.run(last_position)

    async def select(self, statement: str, parameters: Sequence[Cell] = ()) -> list[tuple[Cell, ...]]:
        """Rows of the projections' tables."""
        return await self.readers.run(lambda connection: connection.execute(statement, parameters).fetchall())

    async def watch(
        self, *, streams: Mapping[str, int], heartbeat_sec: float = 15.0
    ) -> AsyncGenerator[Event | Heartbeat | Gap, None]:
        """Events of the streams after the given sequences, and then as they happen."""
        if not streams or len(streams) > 100:
            raise InvalidArgument("watch between 1 and 100 streams")
        after, due = dict(streams), False
        # Up to here everything was read; nothing at first.
        position: int | None = None
        with self._watchers.joined(heartbeat_sec, lambda event: event.stream in after) as timer:
            while True:
                sent = False
                recent = None if position is None else self._recent.after(position)
                events = None if recent is None else _next_of_streams(recent, after)
                if recent and events is not None:
                    position = recent[-1].position
                    for event in events:
                        yield event
                        after[event.stream], sent = event.sequence, True
                elif events is None:
                    position = self.position
                    for stream in after:
                        while True:
                            page = await self.readers.run(partial(_stream_page, stream=stream, after=after[stream]))
                            if isinstance(page, Gap):
                                yield page
                                return
                            for event in page:
                                yield event
                                after[stream], sent = event.sequence, True
                            if len(page) < _WATCH_PAGE:
                                break
                if due and not sent:
                    yield Heartbeat(position=self.position)
                due = await timer.beat(spoke=sent)
                self._check_open()

    async def follow(
        self, query: EventQuery, *, heartbeat_sec: float = 15.0
    ) -> AsyncGenerator[Event | Heartbeat | Gap, None]:
        """Events of the whole log that match, after a position, and then as they happen."""
        query, due, plain = replace(query, limit=_WATCH_PAGE, newest=False), False, is_plain(query)
        # The first look is at the disk, where it shows whether something is gone.
        is_first = True
        wants = partial(matches, query) if plain else lambda event: True
        with self._watchers.joined(heartbeat_sec, wants) as timer:
            while True:
                sent = False
                recent = self._recent.after(query.after) if plain and not is_first else None
                if recent:
                    for event in filter(wants, recent):
                        yield event
                        sent = True
                    query = replace(query, after=recent[-1].position)
                while recent is None:
                    page = await self.readers.run(partial(read_log, query=query))
                    if not page.dropped <= query.after <= page.last:
                        yield Gap(stream="*", requested_after=query.after, first_available=page.dropped + 1)
                        return
                    for event in page.events:
                        yield event
                        sent = True
                    full = len(page.events) == _WATCH_PAGE
                    query = replace(query, after=page.events[-1].position if full else max(query.after, page.last))
                    if not full:
                        break
                is_first = False
                if due and not sent:
                    yield Heartbeat(position=query.after)
                due = await timer.beat(spoke=sent)
                self._check_open()

    def put(self, data: bytes) -> str:
        """Store bytes by their hash, before anything that is appended afterwards."""
        key, limit, at_ns = digest(data), self._config.blob_bytes, self._clock.now_ns()
        self._writer.submit(
            Command(run=lambda writing: blobs.store(writing.connection, key, data, at_ns=at_ns, limit=limit))
        )
        return key

    async def get(self, digest: str) -> bytes | None:
        """The bytes of that hash, or None."""
        return await self.readers.run(lambda connection: blobs.load(connection, digest))

    def _encoded(self, drafts: Sequence[Draft], expect: Mapping[str, int] | None) -> Append:
        try:
            payloads = [dumps(draft.payload) for draft in drafts]
            if not all(map(self._redactor.is_clean, payloads)):
                # Before the write, because the tables are made from the payloads too.
                drafts = [replace(draft, payload=self._without_secrets(draft.payload)) for draft in drafts]
                payloads = [dumps(draft.payload) for draft in drafts]
        except (TypeError, ValueError, RecursionError) as error:
            raise MalformedRequest("an event's payload cannot be written as JSON") from error
        largest = max((_size(payload) for payload in payloads), default=0)
        if largest > self._config.max_payload_bytes:
            raise TooLarge(f"an event's payload has {largest} bytes", details={"limit": self._config.max_payload_bytes})
        return Append(drafts=drafts, payloads=payloads, expect=expect)

    def _without_secrets(self, payload: JsonObject) -> JsonObject:
        redacted = self._redactor.json(payload)
        assert isinstance(redacted, dict)
        return redacted

    async def _submit(self, job: Job) -> object:
        job.reply = Reply()
        self._writer.submit(job)
        # Not shielded: a cancelled caller cancels this future, but not the write.
        return await job.reply.future

    def _append_lost(self, error: CodePlaneError) -> None:
        self.counters.lost += 1
        if self._on_lost is not None:
            self._on_lost(error)

    def _committed(self, committed: Sequence[Committed], spent_ns: int) -> None:
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

    def _check_open(self) -> None:
        """End a watcher of a log that was closed meanwhile."""
        if self._is_closed:
            raise ShuttingDown("the ledger is closed")


def _next_of_streams(recent: Sequence[Event], after: Mapping[str, int]) -> list[Event] | None:
    """The events that come next in the streams; None when one of them is missing between."""
    heads, events = dict(after), list[Event]()
    for event in recent:
        head = heads.get(event.stream)
        if head is None or event.sequence <= head:
            continue
        if event.sequence != head + 1:
            return None
        heads[event.stream] = event.sequence
        events.append(event)
    return events


def _stream_page(connection: sqlite3.Connection, *, stream: str, after: int) -> list[Event] | Gap:
    return read_stream(connection, stream, after, _WATCH_PAGE)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
