"""Streams of the log from a sequence on, for readers that remember how far they have come in each."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.errors import StreamGap
from codeplane.kernel.event import Event, Gap, Heartbeat
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Request, Risk, operation
from codeplane.kernel.ports import StreamObserver
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.operations import EventItem, reading


class FollowRequest(Request):
    """Which streams, each with the last sequence that was seen."""

    streams: dict[str, Annotated[int, Field(ge=0, le=2**53)]] = Field(
        min_length=1, max_length=100, description="a stream's name → exclusive sequence"
    )
    types: tuple[str, ...] = Field((), description="event types, such as action.created", max_length=50)
    heartbeat_sec: float = Field(15.0, ge=0.1, le=300)


class FollowOperations:
    """Reading on where one left off."""

    def __init__(self, log: SqliteLog, streams: StreamObserver) -> None:
        self._log = log
        self._streams = streams

    @operation("ledger.follow", risk=Risk.READ, timeout_sec=0)
    async def follow(self, call: Call, request: FollowRequest) -> AsyncIterator[EventItem]:
        """Events of streams after given sequences, as they happen, with heartbeats; ends with stream_gap."""
        watched = self._log.watch(streams=request.streams, heartbeat_sec=request.heartbeat_sec)
        reader = self._streams.open(
            surface=call.caller.surface, after=self._log.position, resumed=any(request.streams.values())
        )
        async with aclosing(watched) as items, reading(reader):
            async for item in items:
                if isinstance(item, Event):
                    reader.reached(item.position)
                    if not request.types or item.type in request.types:
                        yield EventItem(event=item.to_wire())
                elif isinstance(item, Heartbeat):
                    reader.reached(item.position)
                    yield EventItem(heartbeat=item.position)
                else:
                    reader.gap()
                    yield EventItem(stream_gap=_gap(item))
                    raise StreamGap(f"events after {item.requested_after} are gone", details=_gap(item))


def _gap(gap: Gap) -> JsonObject:
    return {"stream": gap.stream, "requested_after": gap.requested_after, "first_available": gap.first_available}
