"""The event log in SQLite, with the projections beside it."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from codeplane.kernel.clock import Clock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, Overloaded, StreamGap, TooLarge
from codeplane.kernel.event import Appended, Draft, Event, Gap, Heartbeat
from codeplane.kernel.ids import digest
from codeplane.kernel.json import dumps
from codeplane.kernel.ports import EventQuery
from codeplane.ledger import blobs
from codeplane.ledger.database import open_writer
from codeplane.ledger.projection import Projection, Projector
from codeplane.ledger.readers import Readers
from codeplane.ledger.rows import COLUMNS, Cell, from_row
from codeplane.ledger.writer import Append, Command, Job, Reply, Writer, Writing

_WATCH_PAGE = 500


@dataclass(slots=True)
class LogCounters:
    """What the log did since it was opened."""

    events: int = 0
    commits: int = 0
    commit_ns: int = 0
    lost: int = 0


class SqliteLog:
    """The one log, on local disk; implements the ports EventLog and Blobs."""

    def __init__(
        self,
        *,
        path: Path,
        projections: Sequence[Projection],
        config: LedgerConfig,
        clock: Clock,
        on_commit: Callable[[int, int], None] | None = None,
        on_lost: Callable[[CodePlaneError], None] | None = None,
    ) -> None:
        self.path = path
        self.projector = Projector(projections)
        self.counters = LogCounters()
        self._config = config
        self._clock = clock
        self._on_commit = on_commit
        self._on_lost = on_lost
        self._watchers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        connection = open_writer(path)
        try:
            self.rebuilt = self.projector.catch_up(connection)
        except BaseException:
            connection.close()
            raise
        self.readers = Readers(path)
        self._writer = Writer(
            connection=connection,
            path=path,
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
        """Write what is queued and close the files."""
        self._writer.close()
        self.readers.close()

    async def append(self, drafts: Sequence[Draft], *, expect: Mapping[str, int] | None = None) -> Appended:
        """Append all or none and return when durable."""
        if self._writer.waiting >= self._config.queue_events:
            raise Overloaded(f"{self._writer.waiting} events wait to be written")
        return cast(Appended, await self._submit(self._encoded(drafts, expect)))

    def append_soon(self, drafts: Sequence[Draft]) -> bool:
        """Append without waiting; False when the queue is half full and the caller has to wait with `append`."""
        if self._writer.waiting * 2 >= self._config.queue_events:
            return False
        self._writer.submit(self._encoded(drafts, None))
        return True

    async def command(self, run: Callable[[Writing], object]) -> object:
        """Run a function of the ledger's own in the writer, in the order of the queue."""
        return await self._submit(Command(run=run))

    async def flush(self) -> None:
        """Return when everything queued so far is durable."""
        await self.command(lambda writing: writing.position)

    async def read(self, *, stream: str, after: int = 0, limit: int = 1000) -> list[Event]:
        """Events of one stream after a sequence, oldest first."""
        found = await self.readers.run(lambda connection: _read(connection, stream, after, limit))
        if isinstance(found, Gap):
            raise StreamGap(
                f"{stream} no longer holds what came after {after}",
                details={"stream": stream, "first_available": found.first_available},
            )
        return found

    async def query(self, query: EventQuery) -> list[Event]:
        """Events of the whole log that fit, in the order of their positions."""
        return (await self.readers.run(lambda connection: _query(connection, query)))[0]

    async def select(self, statement: str, parameters: Sequence[Cell] = ()) -> list[tuple[Cell, ...]]:
        """Rows of the projections' tables."""
        return await self.readers.run(lambda connection: connection.execute(statement, parameters).fetchall())

    async def watch(
        self, *, streams: Mapping[str, int], heartbeat_sec: float = 15.0
    ) -> AsyncIterator[Event | Heartbeat | Gap]:
        """Events of the streams after the given sequences, and then as they happen."""
        if not streams or len(streams) > 100:
            raise InvalidArgument("watch between 1 and 100 streams")
        after = dict(streams)
        async for wake in self._wakes(heartbeat_sec):
            seen = 0
            for stream in after:
                while True:
                    found = await self.readers.run(
                        lambda connection, stream=stream: _read(connection, stream, after[stream], _WATCH_PAGE)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                    )
                    if isinstance(found, Gap):
                        yield found
                        return
                    for event in found:
                        yield event
                        after[stream] = event.sequence
                        seen += 1
                    if len(found) < _WATCH_PAGE:
                        break
            if wake == "silence" and not seen:
                yield Heartbeat(position=self.position)

    async def follow(self, query: EventQuery, *, heartbeat_sec: float = 15.0) -> AsyncIterator[Event | Heartbeat | Gap]:
        """Events of the whole log that fit, after a position, and then as they happen."""
        after = query.after
        async for wake in self._wakes(heartbeat_sec):
            seen = 0
            while True:
                page = replace(query, after=after, limit=_WATCH_PAGE, newest=False)
                events, last, dropped = await self.readers.run(
                    lambda connection, page=page: _query(connection, page)  # type: ignore[misc]  # as above
                )
                if after < dropped:
                    yield Gap(stream="*", requested_after=after, first_available=dropped + 1)
                    return
                for event in events:
                    yield event
                    seen += 1
                if len(events) < _WATCH_PAGE:
                    after = max(after, last)
                    break
                after = events[-1].position
            if wake == "silence" and not seen:
                yield Heartbeat(position=after)

    def put(self, data: bytes) -> str:
        """Keep bytes by their hash, before anything that is appended afterwards."""
        key, limit, at_ns = digest(data), self._config.blob_bytes, self._clock.now_ns()
        self._writer.submit(
            Command(run=lambda writing: blobs.store(writing.connection, key, data, at_ns=at_ns, limit=limit))
        )
        return key

    async def get(self, digest: str) -> bytes | None:
        """The bytes of that hash, or None."""
        return await self.readers.run(lambda connection: blobs.load(connection, digest))

    def _encoded(self, drafts: Sequence[Draft], expect: Mapping[str, int] | None) -> Append:
        payloads = [dumps(draft.payload) for draft in drafts]
        largest = max(map(len, payloads), default=0)
        if largest > self._config.max_payload_bytes:
            raise TooLarge(f"an event's payload has {largest} bytes", details={"limit": self._config.max_payload_bytes})
        return Append(drafts=drafts, payloads=payloads, expect=expect)

    async def _submit(self, job: Job) -> object:
        job.reply = Reply()
        self._writer.submit(job)
        # Shielded: a caller that goes away does not take back what is on its way to the disk.
        return await asyncio.shield(job.reply.future)

    def _append_lost(self, error: CodePlaneError) -> None:
        self.counters.lost += 1
        if self._on_lost is not None:
            self._on_lost(error)

    def _committed(self, events: int, spent_ns: int) -> None:
        self.counters.events += events
        self.counters.commits += 1
        self.counters.commit_ns += spent_ns
        if self._on_commit is not None:
            self._on_commit(events, spent_ns)
        if not events:
            return
        for loop, wake in tuple(self._watchers):
            try:
                loop.call_soon_threadsafe(wake.set)
            except RuntimeError:
                self._watchers.discard((loop, wake))

    async def _wakes(self, heartbeat_sec: float) -> AsyncIterator[str]:
        """Yields at once, then after every commit, and when nothing was committed for a while."""
        wake = asyncio.Event()
        entry = (asyncio.get_running_loop(), wake)
        self._watchers.add(entry)
        try:
            yield "start"
            while True:
                try:
                    await asyncio.wait_for(wake.wait(), heartbeat_sec)
                except TimeoutError:
                    yield "silence"
                    continue
                wake.clear()
                yield "commit"
        finally:
            self._watchers.discard(entry)


def _read(connection: sqlite3.Connection, stream: str, after: int, limit: int) -> list[Event] | Gap:
    row = connection.execute("SELECT head, first FROM streams WHERE stream = ?", (stream,)).fetchone()
    if row is None:
        return []
    head, first = row
    if after + 1 < first and after < head:
        return Gap(stream=stream, requested_after=after, first_available=first)
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM events WHERE stream = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        (stream, after, limit),
    )
    return [from_row(found) for found in rows]


def _query(connection: sqlite3.Connection, query: EventQuery) -> tuple[list[Event], int, int]:
    where, values = ["position > ?"], [cast(Cell, query.after)]
    for column, value in (
        ("position <= ?", query.until),
        ("task_id = ?", query.task_id),
        ("session_id = ?", query.session_id),
        ("call_id = ?", query.call_id),
    ):
        if value is not None:
            where.append(column)
            values.append(value)
    if query.stream is not None and query.stream.endswith("*"):
        where.append("stream >= ? AND stream < ?")
        prefix = query.stream[:-1]
        values += [prefix, prefix + "\U0010ffff"]
    elif query.stream is not None:
        where.append("stream = ?")
        values.append(query.stream)
    if query.types:
        where.append(f"type IN ({', '.join('?' * len(query.types))})")
        values += query.types
    order = "DESC" if query.newest else "ASC"
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM events WHERE {' AND '.join(where)} ORDER BY position {order} LIMIT ?",
        (*values, query.limit),
    ).fetchall()
    last, dropped = connection.execute("SELECT last_position, dropped_position FROM log_state").fetchone()
    if query.newest:
        rows.reverse()
    return [from_row(row) for row in rows], last, dropped
