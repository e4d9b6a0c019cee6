"""The typed methods that answer with a stream of messages."""

from google.protobuf.message import Message

from codeplane._gen import events_pb2, turns_pb2, work_pb2
from codeplane._gen.search import search_pb2
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.services.event_items import EventItems, heartbeat_sec
from codeplane.surfaces.services.search_fields import PAGE_FIELDS, SEARCH_PACKAGE, SEARCH_WORDS
from codeplane.surfaces.services.stream_mapping import FirstCall, MappedItems, StreamMethod, TypedStream
from codeplane.surfaces.services.watch import Watch

_ENDS_WORK = frozenset({"work.completed", "work.failed", "work.cancelled"})


_ENDS_TURN = frozenset({"turn.completed", "turn.failed"})
_Paced = (
    work_pb2.WatchWorkRequest | work_pb2.RunWorkRequest | events_pb2.WatchThreadRequest | turns_pb2.StartTurnRequest
)


def _heartbeat(request: Message) -> JsonObject:
    """The operation counts in seconds what requests have as `heartbeat_ms`."""
    assert isinstance(request, _Paced)
    return {"heartbeat_sec": heartbeat_sec(request.heartbeat_ms)}


def _work_events(request: Message, answered: JsonObject) -> EventItems[events_pb2.Event]:
    assert isinstance(request, work_pb2.WatchWorkRequest)
    return EventItems(events_pb2.Event, after=request.from_sequence)


def _run_events(request: Message, answered: JsonObject) -> EventItems[events_pb2.Event]:
    assert isinstance(request, work_pb2.RunWorkRequest)
    return EventItems(
        events_pb2.Event, after=request.from_sequence, until=lambda event: event.get("type") in _ENDS_WORK
    )


def _thread_events(request: Message, answered: JsonObject) -> EventItems[events_pb2.ThreadEvent]:
    assert isinstance(request, events_pb2.WatchThreadRequest)
    return EventItems(events_pb2.ThreadEvent, after=request.from_sequence)


def _turn_events(request: Message, answered: JsonObject) -> EventItems[events_pb2.ThreadEvent]:
    assert isinstance(request, turns_pb2.StartTurnRequest)

    def is_end(event: JsonObject) -> bool:
        return event.get("type") in _ENDS_TURN and event.get("turn_id") == answered["turn_id"]

    after = request.resume_from_sequence or int(str(answered["from_sequence"]))
    return EventItems(events_pb2.ThreadEvent, after=after, until=is_end)


def _pages(request: Message, answered: JsonObject) -> MappedItems:
    return MappedItems(kind=search_pb2.SearchResponse, takes=PAGE_FIELDS)


STREAMS: tuple[StreamMethod, ...] = (
    Watch(),
    TypedStream(
        service="WorkService",
        method="WatchWork",
        operation="work.watch",
        sends={"from_sequence": "after", "heartbeat_ms": ""},
        converts=_heartbeat,
        items=_work_events,
    ),
    TypedStream(
        service="WorkService",
        method="RunWork",
        first=FirstCall(
            operation="work.start",
            sends={"from_sequence": "", "heartbeat_ms": ""},
            passes={"work_id": "work_id"},
        ),
        operation="work.watch",
        sends={"from_sequence": "after"},
        converts=_heartbeat,
        items=_run_events,
    ),
    TypedStream(
        service="EventsService",
        method="WatchThread",
        operation="thread.watch",
        sends={"heartbeat_ms": ""},
        converts=_heartbeat,
        items=_thread_events,
    ),
    TypedStream(
        service="TurnsService",
        method="StartTurn",
        first=FirstCall(
            operation="turn.send",
            sends={"resume_from_sequence": "", "heartbeat_ms": ""},
            passes={"thread_id": "thread_id", "turn_id": "turn_id", "from_sequence": "from_sequence"},
        ),
        operation="thread.watch",
        sends={"resume_from_sequence": "from_sequence"},
        converts=_heartbeat,
        items=_turn_events,
    ),
    TypedStream(
        package=SEARCH_PACKAGE,
        service="SearchService",
        method="StreamSearch",
        operation="search.stream",
        sends={"page_size": "limit"},
        words=SEARCH_WORDS,
        items=_pages,
    ),
)
