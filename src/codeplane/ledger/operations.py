"""The operations on the log itself."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path

from codeplane.kernel.call import Call
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import CapabilityDenied, StreamGap
from codeplane.kernel.event import Event, Heartbeat
from codeplane.kernel.event_log import EventScope
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.kernel.operation import Budget, Preview, Risk, operation, previews
from codeplane.kernel.page import Pagination
from codeplane.kernel.plural import plural
from codeplane.kernel.ports import ScopeOf, StreamObserver, StreamReader
from codeplane.ledger.database import last_position
from codeplane.ledger.export_folder import ExportFolder
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.models import (
    EventFilter,
    EventItem,
    EventPage,
    EventsRequest,
    ExportResult,
    FollowRequest,
    Nothing,
    RebuildResult,
    RetainResult,
    VerifyResult,
    WatchRequest,
)
from codeplane.ledger.projection import differences, rebuild
from codeplane.ledger.retention import CLASSES, Retention
from codeplane.ledger.transaction import WriteTransaction

_EXPORT_PAGE = 2000
_MAX_NAMED = 5


@asynccontextmanager
async def close_on_exit(reader: StreamReader) -> AsyncIterator[None]:
    """Close a reader's stream when it ends."""
    try:
        yield
    finally:
        reader.close()


class LedgerOperations:
    """What clients can ask of the log."""

    def __init__(
        self,
        *,
        log: SqliteLog,
        retention: Retention,
        cursors: Cursors,
        exports: Path,
        segment_bytes: int,
        streams: StreamObserver,
        scope_of: ScopeOf,
    ) -> None:
        """`scope_of` gives the part of the log that a caller may read."""
        self._streams = streams
        self._log = log
        self._scope_of = scope_of
        self._retention = retention
        self._cursors = cursors
        self._exports = exports
        self._segment_bytes = segment_bytes

    @operation("ledger.events", risk=Risk.READ)
    async def events(self, call: Call, request: EventsRequest) -> EventPage:
        """Events of the log, paged; a page and those after it show the log as it was at the first."""
        scope = _scope(call, request)
        after, until = request.after, None
        end = None if request.before is None else request.before - 1
        if request.cursor:
            state = self._cursors.open(request.cursor, scope=scope)
            after, end, until = int(str(state["after"])), int(str(state["end"])), int(str(state["until"]))
        visible = self._scope_of(call)
        query = request.query(limit=request.limit + 1, until=end, after=after)
        read = await self._log.page(replace(query, newest=request.newest, scope=visible))
        events, until = read.events, read.last if until is None else until
        end = until if end is None else min(end, until)
        more, following = len(events) > request.limit, None
        page = events[-request.limit :] if request.newest else events[: request.limit]
        if more:
            after, end = (after, page[0].position - 1) if request.newest else (page[-1].position, end)
            following = self._cursors.issue(scope=scope, state={"after": after, "end": end, "until": until})
        return EventPage(
            results=_wire(page),
            pagination=Pagination(next_cursor=following),
            last_position=until,
            only=None if visible is None else visible.actor,
        )

    @operation("ledger.watch", risk=Risk.READ, timeout_sec=0)
    async def watch(self, call: Call, request: WatchRequest) -> AsyncIterator[EventItem]:
        """Events that fit, as they happen, with heartbeats; ends with stream_gap when some are gone."""
        query = request.query(limit=0, after=self._log.position if request.from_now else None)
        query = replace(query, scope=self._scope_of(call))
        named = bool(request.after) and not request.from_now
        resumed = named if request.resumed is None else request.resumed
        reader = self._streams.open(surface=call.caller.surface, after=query.after, resumed=resumed)
        followed = self._log.follow(query, heartbeat_sec=request.heartbeat_sec)
        async with aclosing(followed) as items, close_on_exit(reader):
            async for item in items:
                if isinstance(item, Event):
                    yield EventItem(event=item.to_wire())
                    reader.mark_position(item.position)
                elif isinstance(item, Heartbeat):
                    yield EventItem(heartbeat=item.position)
                    reader.mark_position(item.position)
                else:
                    reader.gap()
                    yield EventItem(stream_gap=item.to_json())
                    raise StreamGap(f"events after {item.requested_after} are gone", details=item.to_json())

    @operation("ledger.export", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=600)
    async def export(self, call: Call, request: EventFilter) -> ExportResult:
        """Write events as JSON lines into a folder of its own under .codeplane/exports, rotating at 50 MB."""
        target = self._exports / call.call_id
        folder = ExportFolder(target, segment_bytes=self._segment_bytes)
        until, after, events, size = await self._log.end(), request.after, 0, 0
        while True:
            query = request.query(limit=_EXPORT_PAGE, until=until, after=after)
            page = await self._log.query(replace(query, scope=self._scope_of(call)))
            size += await asyncio.to_thread(folder.write, page)
            events += len(page)
            if len(page) < _EXPORT_PAGE:
                break
            after = page[-1].position
            await call.progress(after, until, f"{plural(events, 'event')} written")
        return ExportResult(
            folder=str(target),
            events=events,
            bytes=size,
            segments=tuple(path.name for path in folder.segments()),
            through_position=until,
        )

    @operation("ledger.verify", risk=Risk.READ, timeout_sec=600)
    async def verify(self, call: Call, request: Nothing) -> VerifyResult:
        """Check the log for damage and gaps, and every table against one rebuilt from the log."""
        await self._log.flush()
        return await self._log.readers.run(self._check)

    @operation("ledger.rebuild", risk=Risk.WRITE, budget=Budget.MUTATION, capability="execute_tools", timeout_sec=600)
    async def rebuild(self, call: Call, request: Nothing) -> RebuildResult:
        """Make every table again from the newest snapshot and the log."""
        projections = self._log.projector.projections

        def run(writing: WriteTransaction) -> int:
            return max(rebuild(writing.connection, projection) for projection in projections)

        position = await self._log.command(run)
        return RebuildResult(rebuilt=tuple(projection.name for projection in projections), position=int(str(position)))

    @operation("ledger.retain", risk=Risk.DESTRUCTIVE, budget=Budget.MUTATION, timeout_sec=600)
    async def retain(self, call: Call, request: Nothing) -> RetainResult:
        """Drop now what retention would drop on its next run."""
        outcome = await self._retention.apply()
        return RetainResult(streams=int(str(outcome["streams"])), events=int(str(outcome["events"])))

    @previews("ledger.retain")
    async def preview_retain(self, request: Nothing) -> Preview:
        """The rules by which events go, which are the owner's settings."""
        rules = [
            f"{kind.prefix}{'*' if kind.whole else ''}: {'whole streams' if kind.whole else 'events'} older than "
            f"retention.{kind.setting}"
            for kind in CLASSES
        ]
        rules.append("task/*: all but the newest retention.tasks_max")
        return Preview(
            summary="drop now what the settings under retention let go, instead of at the next run",
            body="\n".join([*rules, "What is dropped cannot be brought back."]),
        )

    def _check(self, connection: sqlite3.Connection) -> VerifyResult:
        (integrity,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        gaps = connection.execute(
            """SELECT s.stream FROM streams s LEFT JOIN
               (SELECT stream, count(*) AS held, min(sequence) AS low, max(sequence) AS high
                FROM events GROUP BY stream) e ON e.stream = s.stream
               WHERE coalesce(e.held, 0) != s.head - s.first + 1
                  OR (e.held > 0 AND (e.low != s.first OR e.high != s.head)) LIMIT 100"""
        ).fetchall()
        (streams,) = connection.execute("SELECT count(*) FROM streams").fetchone()
        differing = [
            table for projection in self._log.projector.projections for table in differences(connection, projection)
        ]
        return VerifyResult(
            ok=integrity == "ok" and not gaps and not differing,
            integrity=integrity,
            last_position=last_position(connection),
            streams=streams,
            gaps=tuple(stream for (stream,) in gaps),
            differing_tables=tuple(differing),
        )


def _scope(call: Call, request: EventsRequest) -> str:
    asked: JsonValue = request.model_dump(mode="json", exclude={"cursor", "limit"})
    return f"{call.operation.name}:{call.task.session_id if call.task else ''}:{digest(canonical(asked))}"


def _wire(events: list[Event]) -> tuple[JsonObject, ...]:
    return tuple(event.to_wire() for event in events)


class FollowOperations:
    """Reading on where one left off."""

    def __init__(self, log: SqliteLog, streams: StreamObserver, scope_of: ScopeOf) -> None:
        """`scope_of` gives the part of the log that a caller may read."""
        self._log = log
        self._streams = streams
        self._scope_of = scope_of

    @operation("ledger.follow", risk=Risk.READ, timeout_sec=0)
    async def follow(self, call: Call, request: FollowRequest) -> AsyncIterator[EventItem]:
        """Events of streams after given sequences, as they happen, with heartbeats; ends with stream_gap."""
        if (scope := self._scope_of(call)) is not None:
            await self._check(tuple(request.streams), scope)
        watched = self._log.watch(streams=request.streams, heartbeat_sec=request.heartbeat_sec)
        reader = self._streams.open(
            surface=call.caller.surface, after=self._log.position, resumed=any(request.streams.values())
        )
        async with aclosing(watched) as items, close_on_exit(reader):
            async for item in items:
                if isinstance(item, Event):
                    reader.mark_position(item.position)
                    if not request.types or item.type in request.types:
                        yield EventItem(event=item.to_wire())
                elif isinstance(item, Heartbeat):
                    reader.mark_position(item.position)
                    yield EventItem(heartbeat=item.position)
                else:
                    reader.gap()
                    yield EventItem(stream_gap=item.to_json())
                    raise StreamGap(f"events after {item.requested_after} are gone", details=item.to_json())

    async def _check(self, streams: Sequence[str], scope: EventScope) -> None:
        """Raise CapabilityDenied when the caller may not read one of the streams."""
        if hidden := await self._log.hidden_streams(streams, scope):
            raise CapabilityDenied(
                f"{scope.actor} did not begin {', '.join(hidden[:_MAX_NAMED])}, and reads only what is its own",
                hint="ask for it: capability_request with context_sharing; a person decides: cpl grants",
                details={"missing": "context_sharing", "streams": list(hidden)},
            )
