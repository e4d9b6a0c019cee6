"""The activity of the dashboard: `call.list` and `call.watch`."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from typing import TypeVar, cast

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_FINISHED, CALL_REFUSED, CALL_REPLAYED, RESUMED_SURFACE
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import StreamGap
from codeplane.kernel.event import Event, Gap, Heartbeat
from codeplane.kernel.event_log import EventQuery, PayloadCondition
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonValue, canonical
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.ports import Ledger, ScopeOf, StreamObserver
from codeplane.observe.dashboard.action_rows import ActionRows, cell
from codeplane.observe.dashboard.call_row import (
    ACTIONS,
    CALLS,
    OF_ACTIONS,
    CallFilter,
    CallRow,
    row_from_event,
)
from codeplane.observe.dashboard.empty_ranges import EmptyRanges

# The port promises an iterator; every log returns one that can be closed.
Followed = AsyncGenerator[Event | Heartbeat | Gap, None]

F = TypeVar("F", bound=CallFilter)
# How many events are read for one page, and how far back in the log.
_CHUNK, _MAX_READ = 500, 1000
_MAX_DISTANCE = 20_000
# Excludes what the dashboard reads before anyone is signed in.
_NOT_DASHBOARD = PayloadCondition(field="surface", value="web", other=True, or_session=True)
_MAX_QUIET = 1000
# A follower that is further behind has to list again: replaying a long log would slow down everyone else.
_BACKLOG = 2000
_DASHBOARD_SESSIONS = "SELECT session_id FROM sessions WHERE surface = 'web' ORDER BY rowid DESC LIMIT ?"
_KNOWN_SESSIONS = 2000
_ENDS = (CALL_FINISHED, CALL_REFUSED, CALL_REPLAYED)
_NO_SESSION = frozenset({"SESSION_CLOSED", "SESSION_NOT_FOUND"})


class CallsRequest(CallFilter, PageRequest):
    """A page of the activity, the newest first."""

    limit: int = Field(30, ge=1, le=200)


class CallPage(Result):
    """Calls, newest first; `looked_back_to` when the scan ended before the page was full."""

    results: tuple[CallRow, ...]
    running: tuple[CallRow, ...] = ()
    position: int
    looked_back_to: str | None = None
    pagination: Pagination = Pagination()

    def text(self) -> str:
        rows = (*self.running, *self.results)
        lines = [f"{row.at[:19]} {row.operation} {row.status} {row.actor} {row.said}".rstrip() for row in rows]
        return ("\n".join(lines) or "no calls") + self.pagination.line()


class CallsWatchRequest(CallFilter):
    """Calls as they happen."""

    after: int | None = Field(
        None, ge=0, le=2**53, description="a position of the log, at most 2,000 back; else from now on"
    )
    heartbeat_sec: float = Field(15.0, ge=0.1, le=300)
    resumed: bool = Field(False, description="whether this goes on where it was cut off")


class CallItem(Result):
    """A new or updated row, or a heartbeat."""

    row: CallRow | None = None
    position: int
    decides: bool = Field(False, description="what waits for a person is another by now, whether or not its row fits")


class CallOperations:
    """Reads the log backwards, a bounded range at a time, as rows of calls."""

    def __init__(self, *, log: Ledger, cursors: Cursors, streams: StreamObserver, scope_of: ScopeOf) -> None:
        """`scope_of` gives the part of the log that a caller may read."""
        self._log = log
        self._actions = ActionRows(log)
        self._scope_of = scope_of
        self._streams = streams
        self._cursors = cursors
        self._skipping = EmptyRanges(log)
        self._sessions: dict[str, tuple[str | None, str | None]] = {}

    @operation("call.list", risk=Risk.READ)
    async def page(self, call: Call, request: CallsRequest) -> CallPage:
        """Calls of everyone, or of the agent that asks and by `actor` of work it started, the newest first: what was
        asked, who asked, how it ended; proposals with their fate."""
        request = await self._limit_to_caller(call, request)
        asked: JsonValue = request.model_dump(mode="json", exclude={"cursor", "limit"})
        scope = f"call.list:{digest(canonical(asked))}"
        await self._log.flush()
        until = position = await self._position()
        if request.cursor:
            until = int(str(self._cursors.open(request.cursor, scope=scope)["before"])) - 1
        running = () if request.cursor else await self._running_calls(request)
        rows: list[CallRow] = []
        events_read, first_until, ended = 0, until, until <= 0
        wanted = await self._event_query(request)
        narrow = bool(request.for_task_id or request.in_session)
        # A failed action is shown as the call that executed it, where that ended.
        alone = narrow or request.outcome == "failed"
        while (
            len(rows) < request.limit and events_read < _MAX_READ and first_until - until < _MAX_DISTANCE and not ended
        ):
            # Most pages are full after a short scan.
            chunk = _CHUNK if events_read else 3 * request.limit
            # The calls of one task or session are found anywhere, all others up to a bounded distance.
            after = 0 if narrow else max(0, first_until - _MAX_DISTANCE)
            events = await self._query(replace(wanted, after=after, until=until, limit=chunk))
            low = events[0].position if len(events) == chunk else after + 1
            action_rows = [] if alone else await self._actions.find(request, low, until, chunk)
            low = action_rows[-1].position if len(action_rows) == chunk else low
            events_read += len(events) + len(action_rows)
            await self._load_sessions(events)
            candidates = tuple(event for event in events if event.position >= low and self._may_fit(event, request))
            action_rows += await self._rows(candidates, outcome=request.outcome)
            for row in sorted(action_rows, key=lambda row: -row.position):
                until = row.position - 1
                if request.since_ns is not None and row.at_ns < request.since_ns:
                    ended = True
                    break
                if row.fits(request):
                    rows.append(row)
                    if len(rows) == request.limit:
                        break
            else:
                until = low - 1
                past = bool(events) and request.since_ns is not None and events[0].at_ns < request.since_ns
                ended = until <= 0 or past
        full = len(rows) == request.limit
        rows = [row for row in await self._actions.with_failures(rows) if row.fits(request)]
        more = not ended or full
        cut = await self._log.query(EventQuery(until=until, newest=True, limit=1)) if more and not full else []
        return CallPage(
            results=tuple(rows),
            running=running,
            position=position,
            looked_back_to=rfc3339(cut[0].at_ns) if cut else None,
            pagination=Pagination(
                next_cursor=self._cursors.issue(scope=scope, state={"before": until + 1}) if more and until else None
            ),
        )

    @operation("call.watch", risk=Risk.READ, timeout_sec=0)
    async def watch(self, call: Call, request: CallsWatchRequest) -> AsyncIterator[CallItem]:
        """Calls that fit as they begin, are decided on and end; a row that comes again says more than before."""
        request = await self._limit_to_caller(call, request)
        position = await self._position()
        after = request.after if request.after is not None else position
        if position - after > _BACKLOG:
            raise StreamGap(
                f"more than {_BACKLOG} events came after {after}", hint="look at call.list, then go on from now"
            )
        query = EventQuery(after=after, limit=0, types=(*CALLS, *ACTIONS))
        watched = cast(Followed, self._log.follow(query, heartbeat_sec=request.heartbeat_sec))
        with closing(self._streams.open(surface=call.caller.surface, after=after, resumed=request.resumed)) as reader:
            async with aclosing(watched) as items:
                async for item in items:
                    if isinstance(item, Event):
                        for call_item in await self._items(item, request):
                            yield call_item
                    elif isinstance(item, Heartbeat):
                        yield CallItem(position=item.position)
                    else:
                        reader.gap()
                        raise StreamGap(f"events after {item.requested_after} are gone")
                    reader.mark_position(item.position)

    async def _limit_to_caller(self, call: Call, request: F) -> F:
        """The filter, bounded to its own calls, or those of its work, where the caller may not read others."""
        scope = self._scope_of(call)
        if scope is None or (request.actor and await self._log.own_actors((request.actor,), scope)):
            return request
        return request.model_copy(update={"actor": scope.actor})

    async def _items(self, event: Event, request: CallFilter) -> list[CallItem]:
        """The items that one event gives a follower."""
        decides = event.type in ACTIONS
        rows = [row for row in await self._rows((event,), live=True) if row.fits(request) or row.has_left(request)]
        if not rows:
            return [CallItem(position=event.position, decides=True)] if decides else []
        fresh = (row.model_copy(update={"updated": event.position}) for row in rows)
        return [CallItem(row=row, position=event.position, decides=decides) for row in fresh]

    async def _event_query(self, request: CallFilter) -> EventQuery:
        """The filter as a query, as far as the log can apply it."""
        outcome = request.outcome_conditions()
        query = EventQuery(
            newest=True,
            types=_ends(request),
            task_id=request.for_task_id,
            session_id=request.in_session,
            actor=request.actor or None,
            words=request.words(),
            conditions=(
                *((PayloadCondition(field="operation", value=request.operation),) if request.operation else ()),
                *outcome,
            ),
        )
        if request.dashboard:
            return query
        looking = await self._log.select(_DASHBOARD_SESSIONS, (_MAX_QUIET,))
        return replace(
            query,
            quiet=tuple(str(session_id) for (session_id,) in looking),
            conditions=(*query.conditions, _NOT_DASHBOARD),
        )

    async def _query(self, query: EventQuery) -> list[Event]:
        if _NOT_DASHBOARD not in query.conditions or query.task_id or query.session_id:
            return await self._log.query(query)
        every = (
            query.conditions == (_NOT_DASHBOARD,) and not query.words and query.actor is None and query.types == _ENDS
        )
        return await self._skipping.query(query, all_of_them=every)

    def _may_fit(self, event: Event, wanted: CallFilter) -> bool:
        surface, client = self._sessions.get(event.correlation.session_id or "", (None, None))
        return wanted.may_fit(event, surface=surface, client=client)

    async def _position(self) -> int:
        newest = await self._log.query(EventQuery(newest=True, limit=1))
        return newest[-1].position if newest else 0

    async def _rows(self, events: Sequence[Event], *, live: bool = False, outcome: str | None = None) -> list[CallRow]:
        """Rows of the events in their order; an action's row stands for its calls, unless failures are wanted."""
        await self._load_sessions(events)
        failed = outcome == "failed"
        actions = await self._actions.load(_action_ids(events, every=live or failed), None if failed else outcome)
        rows: list[CallRow] = []
        for event in events:
            action = actions.get(_action_id(event) or "")
            plain = (
                row_from_event(event, **self._by(event))
                if event.type in CALLS and not _is_first_attempt(event)
                else None
            )
            if failed and plain is not None:
                rows.append(plain if action is None else plain.model_copy(update={"said": action.said}))
            elif action is not None:
                if live or event.type == "action.created":
                    update = {"failure": plain.failure} if plain is not None and plain.failure else {}
                    rows.append(action.model_copy(update=update))
            elif plain is not None and not _is_of_action(event):
                rows.append(plain)
        return rows

    def _by(self, event: Event) -> dict[str, str | None]:
        surface, client = self._sessions.get(event.correlation.session_id or "", (None, None))
        return {"surface": surface, "client": client}

    async def _running_calls(self, request: CallsRequest) -> tuple[CallRow, ...]:
        """The calls that are running; a running action is shown by the call that executes it."""
        running = await self._log.select(
            "SELECT call_id FROM operations WHERE status = 'running' ORDER BY op_id DESC LIMIT 50"
        )
        rows: list[CallRow] = []
        for (call_id,) in running:
            events = await self._log.query(EventQuery(call_id=str(call_id), types=("call.started",), limit=1))
            for event, row in zip(events, await self._rows(tuple(events), live=True), strict=False):
                update = {
                    "at": rfc3339(event.at_ns),
                    "at_ns": event.at_ns,
                    "call_id": str(call_id),
                    "status": "running",
                }
                rows.append(row.model_copy(update={**update, "phase": "running"}))
        return tuple(row for row in rows if row.fits(request))

    async def _load_sessions(self, events: Sequence[Event]) -> None:
        """Load the client and surface of sessions that are not cached yet."""
        missing = {event.correlation.session_id for event in events} - {None} - self._sessions.keys()
        if not missing:
            return
        if len(self._sessions) > _KNOWN_SESSIONS:
            self._sessions.clear()
        wanted = [str(session_id) for session_id in missing]
        for start in range(0, len(wanted), 500):
            batch = wanted[start : start + 500]
            rows = await self._log.select(
                f"SELECT session_id, surface, client FROM sessions WHERE session_id IN ({', '.join('?' * len(batch))})",
                batch,
            )
            for session_id, surface, client in rows:
                self._sessions[str(session_id)] = (cell(surface), cell(client))


def _ends(request: CallFilter) -> tuple[str, ...]:
    if request.outcome == "failed":
        return (CALL_FINISHED,)
    # An action's events are in its own stream, but they name the task.
    return (*_ENDS, "action.created") if request.for_task_id or request.in_session else _ENDS


def _action_ids(events: Sequence[Event], *, every: bool) -> set[str]:
    """The actions of some events; without `every` those that are proposed: calls are shown in the rows of theirs."""
    found = (_action_id(event) for event in events if every or event.type == "action.created")
    return {action_id for action_id in found if action_id is not None}


def _action_id(event: Event) -> str | None:
    action_id = event.payload.get("action_id")
    return action_id if isinstance(action_id, str) else None


def _is_of_action(event: Event) -> bool:
    return _status(event) in OF_ACTIONS or _action_id(event) is not None


def _is_first_attempt(event: Event) -> bool:
    """Whether the event is the first attempt of an approved call whose session was gone."""
    resumed = event.type == CALL_REFUSED and event.payload.get("surface") == RESUMED_SURFACE
    return resumed and _status(event) in _NO_SESSION


def _status(event: Event) -> str:
    return str(event.payload.get("status"))
