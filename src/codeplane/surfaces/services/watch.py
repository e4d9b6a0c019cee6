"""`EventsService.Watch`: the log from a position."""

from codeplane._gen import events_pb2
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.call_failure import CallFailed

_HEARTBEAT_MS = 15_000
_SHORTEST_MS, _LONGEST_MS = 100, 300_000


class Watch:
    """A watch: its operation and the position reached."""

    def __init__(self, request: events_pb2.WatchRequest) -> None:
        """Refuse contradictory requests."""
        streams = {**request.streams}
        if request.stream and request.from_sequence:
            streams[request.stream] = request.from_sequence
        self._by_sequence = bool(streams)
        if request.from_sequence and not request.stream:
            raise _contradiction("from_sequence is of one stream, and none is named", "name it in `stream`")
        if streams and (request.from_position or request.from_now):
            raise _contradiction("from_sequence and from_position or from_now are both there", "send one of them")
        if request.streams and request.stream:
            raise _contradiction("`stream` and `streams` are both there", "send one of them")
        self.arguments: JsonObject = {"heartbeat_sec": _heartbeat_sec(request.heartbeat_ms)}
        if request.types:
            self.arguments["types"] = list(request.types)
        if self._by_sequence:
            self.operation = "ledger.follow"
            self.arguments["streams"] = {**streams}
        else:
            self.operation = "ledger.watch"
            self.arguments |= {"from_now": True} if request.from_now else {"after": request.from_position}
            if request.stream:
                self.arguments["stream"] = request.stream
        # Of several streams there is no one sequence to tell.
        self._one = len(streams) == 1
        self.latest = next(iter(streams.values())) if self._one else request.from_position

    def note_event(self, event: events_pb2.Event) -> None:
        """Note an event that was sent."""
        if self._one:
            self.latest = event.sequence
        elif not self._by_sequence:
            self.latest = event.position

    def note_heartbeat(self, position: int) -> None:
        """Note that there are no more events up to a position."""
        if not self._by_sequence:
            self.latest = position


def _heartbeat_sec(given_ms: int) -> float:
    if given_ms and not _SHORTEST_MS <= given_ms <= _LONGEST_MS:
        raise CallFailed(
            InvalidArgument(f"heartbeat_ms is {given_ms}", hint=f"between {_SHORTEST_MS} and {_LONGEST_MS}")
        )
    return (given_ms or _HEARTBEAT_MS) / 1000


def _contradiction(what: str, hint: str) -> CallFailed:
    return CallFailed(InvalidArgument(what, hint=hint))
