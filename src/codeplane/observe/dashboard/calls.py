"""`call.list` and `call.watch`: what is done here, by whom, and how it went."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from typing import cast

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.call_record import CALL_FINISHED, CALL_REFUSED, CALL_REPLAYED
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import StreamGap
from codeplane.kernel.event import Event, Gap, Heartbeat
from codeplane.kernel.failure import REFUSED, failure_in_words
from codeplane.kernel.ids import digest
from codeplane.kernel.json import JsonValue, canonical
from codeplane.kernel.operation import Result, Risk, operation
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.ports import EventQuery, Ledger, PayloadCondition, StreamObserver
from codeplane.observe.dashboard.call_row import (
    ACTIONS,
    CALLS,
    OF_ACTIONS,
    CallFilter,
    CallRow,
    row_of,
)
from codeplane.observe.dashboard.skipping import Skipping

# The port promises an iterator; every log there is gives one that can be closed.
Followed = AsyncGenerator[Event | Heartbeat | Gap, None]

# How many events are looked at for one page, and how far back in the log.
_CHUNK, _SEEN = 500, 1000
_LOOKED_BACK = 20_000
# What the dashboard reads without anybody being signed in.
_NOT_OURS = PayloadCondition(field="surface", value="web", other=True, or_session=True)
_QUIET = 1000
# A follower that is further behind has to look anew: telling everyone all of a long log would hold up everyone else.
_BACKLOG = 2000
_LOOKING = "SELECT session_id FROM sessions WHERE surface = 'web' ORDER BY rowid DESC LIMIT ?"
_KNOWN_SESSIONS = 2000
_ENDS = (CALL_FINISHED, CALL_REFUSED, CALL_REPLAYED)
_FOUND = """SELECT a.action_id, o.failure_class FROM audit a JOIN operations o ON o.call_id = a.call_id
            WHERE a.action_id IN ({marks}) AND o.status = 'ok' AND o.failure_class IS NOT NULL"""
_NO_SESSION = frozenset({"SESSION_CLOSED", "SESSION_NOT_FOUND"})
_ACTION = (
    "action_id, operation, actor_kind, actor_id, surface, client, risk, summary, status, created_ns, session_id, "
    "task_id, call_id, decided_by, reason, outcome, position, started"
)


class CallsRequest(CallFilter, PageRequest):
    """A page of the activity, the newest first."""

    limit: int = Field(30, ge=1, le=200)


class CallPage(Result):
    """Calls, the newest first; `looked_back_to` when the look ended before the page was full."""

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
    """A row that is new or says more now, or a sign of life."""

    row: CallRow | None = None
    position: int
    decides: bool = Field(False, description="what waits for a person is another by now, whether or not its row fits")


class CallOperations:
    """Reads the log backwards, a bounded stretch at a time, and tells it as calls."""

    def __init__(self, *, log: Ledger, cursors: Cursors, streams: StreamObserver) -> None:
        self._log = log
        self._streams = streams
        self._cursors = cursors
        self._skipping = Skipping(log)
        self._sessions: dict[str, tuple[str | None, str | None]] = {}

    @operation("call.list", risk=Risk.READ)
    async def page(self, call: Call, request: CallsRequest) -> CallPage:
        """Calls of everyone, the newest first: what was asked, who asked, how it ended; proposals with their fate."""
        asked: JsonValue = request.model_dump(mode="json", exclude={"cursor", "limit"})
        scope = f"call.list:{digest(canonical(asked))}"
        await self._log.flush()
        until = position = await self._position()
        if request.cursor:
            until = int(str(self._cursors.open(request.cursor, scope=scope)["before"])) - 1
        running = () if request.cursor else await self._running(request)
        rows: list[CallRow] = []
        seen, begun, ended = 0, until, until <= 0
        wanted = await self._wanted(request)
        narrow = bool(request.for_task_id or request.in_session)
        # What failed is the call that carried an action out, and is told where it ended.
        alone = narrow or request.outcome == "failed"
        while len(rows) < request.limit and seen < _SEEN and begun - until < _LOOKED_BACK and not ended:
            # Most pages are full after a short look.
            chunk = _CHUNK if seen else 3 * request.limit
            # What is of one task or session is found wherever it is; all else up to a bounded distance.
            after = 0 if narrow else max(0, begun - _LOOKED_BACK)
            found = await self._found(replace(wanted, after=after, until=until, limit=chunk))
            low = found[0].position if len(found) == chunk else after + 1
            told = [] if alone else await self._proposed(request, low, until, chunk)
            low = told[-1].position if len(told) == chunk else low
            seen += len(found) + len(told)
            await self._know(found)
            likely = tuple(event for event in found if event.position >= low and self._may_fit(event, request))
            told += await self._rows(likely, outcome=request.outcome)
            for row in sorted(told, key=lambda one: -one.position):
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
                past = bool(found) and request.since_ns is not None and found[0].at_ns < request.since_ns
                ended = until <= 0 or past
        full = len(rows) == request.limit
        rows = [row for row in await self._judged(rows) if row.fits(request)]
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
                        for told in await self._told(item, request):
                            yield told
                    elif isinstance(item, Heartbeat):
                        yield CallItem(position=item.position)
                    else:
                        reader.gap()
                        raise StreamGap(f"events after {item.requested_after} are gone")
                    reader.reached(item.position)

    async def _told(self, event: Event, request: CallFilter) -> list[CallItem]:
        """What a follower learns from one event."""
        decides = event.type in ACTIONS
        rows = [row for row in await self._rows((event,), live=True) if row.fits(request) or row.moved_on(request)]
        if not rows:
            return [CallItem(position=event.position, decides=True)] if decides else []
        fresh = (row.model_copy(update={"updated": event.position}) for row in rows)
        return [CallItem(row=row, position=event.position, decides=decides) for row in fresh]

    async def _wanted(self, request: CallFilter) -> EventQuery:
        """The filter as far as the log can apply it."""
        outcome = request.outcome_said()
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
        looking = await self._log.select(_LOOKING, (_QUIET,))
        return replace(
            query, quiet=tuple(str(session_id) for (session_id,) in looking), conditions=(*query.conditions, _NOT_OURS)
        )

    async def _found(self, query: EventQuery) -> list[Event]:
        if _NOT_OURS not in query.conditions or query.task_id or query.session_id:
            return await self._log.query(query)
        every = query.conditions == (_NOT_OURS,) and not query.words and query.actor is None and query.types == _ENDS
        return await self._skipping.query(query, all_of_them=every)

    def _may_fit(self, event: Event, wanted: CallFilter) -> bool:
        surface, client = self._sessions.get(event.correlation.session_id or "", (None, None))
        return wanted.may_fit(event, surface=surface, client=client)

    async def _position(self) -> int:
        newest = await self._log.query(EventQuery(newest=True, limit=1))
        return newest[-1].position if newest else 0

    async def _rows(self, events: Sequence[Event], *, live: bool = False, outcome: str | None = None) -> list[CallRow]:
        """Rows of the events in their order; an action's row tells of its calls, unless failures are wanted."""
        await self._know(events)
        failed = outcome == "failed"
        actions = await self._actions(events, every=live or failed, outcome=None if failed else outcome)
        rows: list[CallRow] = []
        for event in events:
            action = actions.get(_action_id(event) or "")
            plain = row_of(event, **self._by(event)) if event.type in CALLS and not _is_second_try(event) else None
            if failed and plain is not None:
                rows.append(plain if action is None else plain.model_copy(update={"said": action.said}))
            elif action is not None:
                if live or event.type == "action.created":
                    found = {"failure": plain.failure} if plain is not None and plain.failure else {}
                    rows.append(action.model_copy(update=found))
            elif plain is not None and not _is_of_action(event):
                rows.append(plain)
        return rows

    def _by(self, event: Event) -> dict[str, str | None]:
        surface, client = self._sessions.get(event.correlation.session_id or "", (None, None))
        return {"surface": surface, "client": client}

    async def _judged(self, rows: Sequence[CallRow]) -> list[CallRow]:
        """With what the runs of actions found, which the actions themselves do not tell."""
        ran = [row.key for row in rows if row.key == row.action_id and row.phase == "done" and row.status == "ok"]
        if not ran:
            return list(rows)
        found = await self._log.select(_FOUND.format(marks=", ".join("?" * len(ran))), ran)
        failures = {str(action_id): failure_in_words(_cell(failure)) for action_id, failure in found}
        return [row.model_copy(update={"failure": failures[row.key]}) if row.key in failures else row for row in rows]

    async def _actions(self, events: Sequence[Event], *, every: bool, outcome: str | None) -> dict[str, CallRow]:
        wanted = {_action_id(event) for event in events if every or event.type == "action.created"} - {None}
        if not wanted:
            # Whether or not the action is on this page, its calls are told of there.
            return {}
        marks = ", ".join("?" * len(wanted))
        term, values = _fitting(outcome)
        rows = await self._log.select(
            f"SELECT {_ACTION} FROM actions WHERE action_id IN ({marks}){term}", (*map(str, wanted), *values)
        )
        return {str(row[0]): _of_action(row) for row in rows}

    async def _proposed(self, request: CallFilter, low: int, until: int, limit: int) -> list[CallRow]:
        """Actions by the places they were proposed at, the newest first."""
        term, values = _fitting(request.outcome)
        if request.operation:
            last = request.operation.removesuffix("*") + ("\U0010ffff" if request.operation.endswith("*") else "")
            term, values = f"{term} AND operation BETWEEN ? AND ?", (*values, request.operation.removesuffix("*"), last)
        for word in request.words():
            like = f"%{word}%"
            term = f"{term} AND (operation LIKE ? OR summary LIKE ? OR reason LIKE ?)"
            values = (*values, like, like, like)
        rows = await self._log.select(
            f"SELECT {_ACTION} FROM actions WHERE position BETWEEN ? AND ?{term} ORDER BY position DESC LIMIT ?",
            (low, until, *values, limit),
        )
        return list(map(_of_action, rows))

    async def _running(self, request: CallsRequest) -> tuple[CallRow, ...]:
        """What has begun and not ended; what runs of a proposal is its own row, by the call that carries it out."""
        found = await self._log.select(
            "SELECT call_id FROM operations WHERE status = 'running' ORDER BY op_id DESC LIMIT 50"
        )
        rows: list[CallRow] = []
        for (call_id,) in found:
            events = await self._log.query(EventQuery(call_id=str(call_id), types=("call.started",), limit=1))
            for event, row in zip(events, await self._rows(tuple(events), live=True), strict=False):
                begun = {"at": rfc3339(event.at_ns), "at_ns": event.at_ns, "call_id": str(call_id), "status": "running"}
                rows.append(row.model_copy(update={**begun, "phase": "running"}))
        return tuple(row for row in rows if row.fits(request))

    async def _know(self, events: Sequence[Event]) -> None:
        """Learn of the sessions that were not met before: which client, over which surface."""
        met = {event.correlation.session_id for event in events} - {None} - self._sessions.keys()
        if not met:
            return
        if len(self._sessions) > _KNOWN_SESSIONS:
            self._sessions.clear()
        wanted = [str(one) for one in met]
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            rows = await self._log.select(
                f"SELECT session_id, surface, client FROM sessions WHERE session_id IN ({', '.join('?' * len(part))})",
                part,
            )
            for session_id, surface, client in rows:
                self._sessions[str(session_id)] = (_cell(surface), _cell(client))


def _ends(request: CallFilter) -> tuple[str, ...]:
    if request.outcome == "failed":
        return (CALL_FINISHED,)
    # An action's own facts are in its stream, but they name the task.
    return (*_ENDS, "action.created") if request.for_task_id or request.in_session else _ENDS


def _fitting(outcome: str | None) -> tuple[str, tuple[str, ...]]:
    """A filter by outcome as a condition on actions: with thousands that wait, most would be told for nothing."""
    if not outcome:
        return "", ()
    among = {"refused": REFUSED, "waiting": ("PENDING",)}.get(outcome, (outcome,))
    return f" AND coalesce(outcome, status) IN ({', '.join('?' * len(among))})", among


def _action_id(event: Event) -> str | None:
    found = event.payload.get("action_id")
    return found if isinstance(found, str) else None


def _is_of_action(event: Event) -> bool:
    return _status(event) in OF_ACTIONS or _action_id(event) is not None


def _is_second_try(event: Event) -> bool:
    """An approved call whose session is gone is run without it at once; that it was tried with it is no news."""
    return event.type == CALL_REFUSED and event.payload.get("surface") == "approval" and _status(event) in _NO_SESSION


def _status(event: Event) -> str:
    return str(event.payload.get("status"))


def _of_action(row: Sequence[str | int | float | bytes | None]) -> CallRow:
    (action_id, name, actor_kind, actor_id, surface, client, risk, summary, status, created_ns, session_id,
     task_id, call_id, decided_by, reason, outcome, position, started) = row  # fmt: skip
    at_ns = int(str(created_ns))
    runs = bool(started) and status == "APPROVED" and not outcome
    phase = (
        "running"
        if runs
        else {"PENDING": "waiting", "APPROVED": "approved", "REJECTED": "rejected"}.get(str(status), "done")
    )
    return CallRow(
        key=str(action_id),
        position=int(str(position)),
        updated=int(str(position)),
        at=rfc3339(at_ns),
        at_ns=at_ns,
        operation=str(name),
        actor=f"{_cell(actor_kind)}:{_cell(actor_id)}",
        status="running" if runs else str(outcome) if outcome else str(status),
        phase=phase,
        said=str(summary),
        mutates=True,
        client=_cell(client),
        surface=_cell(surface),
        call_id=_cell(call_id),
        task_id=_cell(task_id),
        session_id=_cell(session_id),
        action_id=str(action_id),
        risk=_cell(risk),
        decided_by=_cell(decided_by),
        reason=_cell(reason) or None,
    )


def _cell(value: str | int | float | bytes | None) -> str | None:
    return None if value is None else str(value)
