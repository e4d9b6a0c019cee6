"""Requests and results of the ledger operations."""

from typing import Annotated

from pydantic import Field

from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural


class EventFilter(Request):
    """Which events are meant."""

    stream: str | None = Field(None, description="a stream, or a prefix ending in *, such as task/*")
    types: tuple[str, ...] = Field((), description="event types, such as call.finished", max_length=50)
    task_id: str | None = None
    call_id: str | None = None
    in_session: str | None = Field(None, description="a session's id")
    after: int = Field(0, ge=0, le=2**53, description="a position of the log; only later events")

    def query(self, *, limit: int, until: int | None = None, after: int | None = None) -> EventQuery:
        """The filter as the log takes it."""
        return EventQuery(
            after=self.after if after is None else after,
            until=until,
            limit=limit,
            stream=self.stream,
            types=self.types,
            task_id=self.task_id,
            call_id=self.call_id,
            session_id=self.in_session,
        )


class EventsRequest(EventFilter, PageRequest):
    """A page of events."""

    newest: bool = Field(False, description="the newest ones instead of the oldest; later pages go back from there")
    before: int | None = Field(None, ge=1, le=2**53, description="a position of the log; only earlier events")
    limit: int = Field(20, ge=1, le=1000)


class WatchRequest(EventFilter):
    """Events as they happen."""

    heartbeat_sec: float = Field(15.0, ge=0.1, le=300)
    from_now: bool = Field(False, description="only what happens from now on")
    resumed: bool | None = Field(None, description="whether this goes on where it was cut off; else decided by `after`")


class EventItem(Result):
    """One event, or a sign of life, or the gap that ends a watch."""

    event: JsonObject | None = None
    heartbeat: int | None = None
    stream_gap: JsonObject | None = None

    def text(self) -> str:
        if self.event is not None:
            return event_line(self.event)
        return dumps({"stream_gap": self.stream_gap} if self.stream_gap is not None else {"heartbeat": self.heartbeat})


class EventPage(Result):
    """Events in the order of the log."""

    results: tuple[JsonObject, ...]
    pagination: Pagination
    last_position: int
    # Whose events these are, where the caller may not read those of others.
    only: str | None = None

    def text(self) -> str:
        note = "" if self.only is None else f"\n(only events of {self.only} and of what it began)"
        return ("\n".join(map(event_line, self.results)) or "no events") + note + self.pagination.line()


class Nothing(Request):
    """No arguments."""


class ExportResult(Result):
    """Where the events were written."""

    folder: str
    events: int
    bytes: int
    segments: tuple[str, ...]
    through_position: int

    def text(self) -> str:
        return f"{plural(self.events, 'event')} to position {self.through_position} in {self.folder}"


class VerifyResult(Result):
    """Whether the log and its tables are sound."""

    ok: bool
    integrity: str
    last_position: int
    streams: int
    gaps: tuple[str, ...]
    differing_tables: tuple[str, ...]

    def text(self) -> str:
        if self.ok:
            return f"sound: {self.streams} streams to position {self.last_position}, no gaps, tables equal a rebuild"
        parts = [
            f"damaged: {' '.join(self.integrity.split())}" if self.integrity != "ok" else "",
            f"gaps in {self.gaps}" if self.gaps else "",
            f"tables that differ: {self.differing_tables}" if self.differing_tables else "",
        ]
        return "; ".join(filter(None, parts))


class RebuildResult(Result):
    """Which tables were made again."""

    rebuilt: tuple[str, ...]
    position: int

    def text(self) -> str:
        return f"rebuilt to position {self.position}: {', '.join(self.rebuilt)}"


class RetainResult(Result):
    """What the log forgot."""

    streams: int
    events: int

    def text(self) -> str:
        return f"dropped {plural(self.events, 'event')} of {plural(self.streams, 'stream')}"


def event_line(wire: JsonObject) -> str:
    """An event in one line."""
    payload = wire["payload"]
    assert isinstance(payload, dict)
    details = [
        str(payload[name]) for name in ("operation", "status", "state", "reason") if payload.get(name) is not None
    ]
    at = str(wire["occurred_at"])[:23]
    return f"{wire['position']} {at} {wire['stream']}#{wire['sequence']} {wire['type']} {' '.join(details)}".rstrip()


class FollowRequest(Request):
    """Which streams, each with the last sequence that was seen."""

    streams: dict[str, Annotated[int, Field(ge=0, le=2**53)]] = Field(
        min_length=1, max_length=100, description="a stream's name → exclusive sequence"
    )
    types: tuple[str, ...] = Field((), description="event types, such as action.created", max_length=50)
    heartbeat_sec: float = Field(15.0, ge=0.1, le=300)
