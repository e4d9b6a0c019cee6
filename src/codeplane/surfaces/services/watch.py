"""`EventsService.Watch`: the log from a position."""

from google.protobuf.message import Message

from codeplane._gen import events_pb2
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.call_failure import CallFailed
from codeplane.surfaces.services.event_items import Counts, EventItems, heartbeat_sec
from codeplane.surfaces.services.field_mapping import PACKAGE
from codeplane.surfaces.services.stream_mapping import FirstCall, OpenedStream


class Watch:
    """The row of `EventsService.Watch`, whose request says which of two operations is meant."""

    package = PACKAGE
    service = "EventsService"
    method = "Watch"
    operation = "ledger.watch"
    first: FirstCall | None = None

    def open(self, request: Message, answered: JsonObject) -> OpenedStream:
        """Return what to call; refuse contradictory requests."""
        assert isinstance(request, events_pb2.WatchRequest)
        _refuse_contradictions(request)
        arguments: JsonObject = {"heartbeat_sec": heartbeat_sec(request.heartbeat_ms)}
        if request.types:
            arguments["types"] = list(request.types)
        streams = {**request.streams}
        if request.stream and request.from_sequence:
            streams[request.stream] = request.from_sequence
        if streams:
            is_one = len(streams) == 1
            items = EventItems(
                events_pb2.Event,
                after=next(iter(streams.values())) if is_one else 0,
                counts=Counts.SEQUENCE if is_one else Counts.NOTHING,
            )
            return OpenedStream(operation="ledger.follow", arguments={**arguments, "streams": {**streams}}, items=items)
        arguments |= {"from_now": True} if request.from_now else {"after": request.from_position}
        if request.stream:
            arguments["stream"] = request.stream
        items = EventItems(events_pb2.Event, after=request.from_position, counts=Counts.POSITION)
        return OpenedStream(operation=self.operation, arguments=arguments, items=items)


def _refuse_contradictions(request: events_pb2.WatchRequest) -> None:
    has_streams = bool(request.streams or (request.stream and request.from_sequence))
    if request.from_sequence and not request.stream:
        raise _contradiction("from_sequence is of one stream, and none is named", "name it in `stream`")
    if has_streams and (request.from_position or request.from_now):
        raise _contradiction("from_sequence and from_position or from_now are both there", "send one of them")
    if request.streams and request.stream:
        raise _contradiction("`stream` and `streams` are both there", "send one of them")


def _contradiction(what: str, hint: str) -> CallFailed:
    return CallFailed(InvalidArgument(what, hint=hint))
