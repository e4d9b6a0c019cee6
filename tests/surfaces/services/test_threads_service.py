"""Threads and turns over every protocol, as the streaming protocol names them; without a model the index answers."""

import pytest

from codeplane._gen.events_pb2 import ThreadEvent, WatchThreadRequest
from codeplane._gen.threads_pb2 import (
    CreateThreadRequest,
    CreateThreadResponse,
    GetThreadSnapshotRequest,
    GetThreadSnapshotResponse,
    ListThreadMessagesRequest,
    ListThreadMessagesResponse,
    ListThreadsRequest,
    ListThreadsResponse,
)
from codeplane._gen.turns_pb2 import (
    CancelTurnRequest,
    CancelTurnResponse,
    SendTurnRequest,
    SendTurnResponse,
    StartTurnRequest,
)
from codeplane._gen.types_pb2 import CHAT_MESSAGE, SCHEDULE_WAKEUP
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.grpc.channel import call
from tests.surfaces.services.wires import WIRES, Stream, opened

pytestmark = requirement("RPC-20")

START, WATCH = "TurnsService/StartTurn", "EventsService/WatchThread"
every_wire = pytest.mark.parametrize("wire", WIRES)


def events(stream: Stream[ThreadEvent]) -> list[ThreadEvent]:
    """All events until the stream ends, without the heartbeats."""
    return [event for event in stream.messages if not event.HasField("heartbeat")]


def created(server: Server) -> str:
    return call(server, "ThreadsService/CreateThread", CreateThreadRequest(), CreateThreadResponse).thread_id


@every_wire
def test_a_turn_is_started_streamed_and_attached_to_again(connect_server: Server, wire: str) -> None:
    thread_id = created(connect_server)
    request = StartTurnRequest(thread_id=thread_id, client_message_id=f"m-{wire}", user_text="greet")
    with opened(wire, connect_server, START, request, ThreadEvent) as stream:
        seen = events(stream)
    assert stream.error == ""
    kinds = [event.WhichOneof("payload") for event in seen]
    assert kinds[-1] == "turn_completed" and {"turn_started", "turn_budget_applied"} <= set(kinds)
    assert [event.sequence for event in seen] == [*range(2, 2 + len(seen))]
    started = next(event.turn_started for event in seen if event.HasField("turn_started"))
    assert started.trigger_type == CHAT_MESSAGE and len({event.turn_id for event in seen}) == 1
    committed = next(
        event.assistant_message_committed for event in seen if event.HasField("assistant_message_committed")
    )
    assert committed.message_id == seen[-1].turn_completed.assistant_message_id
    assert committed.metadata["answered_by"] == "index"
    request.resume_from_sequence = seen[2].sequence
    with opened(wire, connect_server, START, request, ThreadEvent) as stream:
        again = events(stream)
    assert [event.event_id for event in again] == [event.event_id for event in seen[3:]]
    # Cut off right after the last event: nothing is left, and it ends.
    request.resume_from_sequence = seen[-1].sequence
    with opened(wire, connect_server, START, request, ThreadEvent) as stream:
        assert events(stream) == []


@every_wire
def test_a_watch_goes_on_where_it_was_cut_off(connect_server: Server, wire: str) -> None:
    thread_id = created(connect_server)
    for number in range(2):
        request = SendTurnRequest(thread_id=thread_id, user_text=f"greet {number}", wait_sec=60)
        sent = call(connect_server, "TurnsService/SendTurn", request, SendTurnResponse)
        assert sent.status == "COMPLETED" and "No model is configured" in sent.assistant_message
    last, cursor = sent.last_sequence, 0
    found: list[int] = []
    while cursor < last:
        watch = WatchThreadRequest(thread_id=thread_id, from_sequence=cursor)
        with opened(wire, connect_server, WATCH, watch, ThreadEvent) as stream:
            for _ in range(min(3, last - cursor)):
                event = stream.next(lambda message: not message.HasField("heartbeat"))
                found.append(event.sequence)
            stream.cancel()
        cursor = found[-1]
    assert found == [*range(1, last + 1)]


def _counted(server: Server, name: str) -> float:
    _, body = server.request("GET", "/metrics", headers={"authorization": f"Bearer {server.token}"})
    return sum(float(line.split()[-1]) for line in body.decode().splitlines() if line.startswith(name))


def test_watches_are_counted_with_their_reconnects_and_gaps(connect_server: Server) -> None:
    thread_id, names = created(connect_server), ("codeplane_stream_reconnects_total", "codeplane_stream_gaps_total")
    before = [_counted(connect_server, name) for name in names]
    for after in (0, 1):
        watch = WatchThreadRequest(thread_id=thread_id, from_sequence=after, heartbeat_ms=100)
        with opened("grpc", connect_server, WATCH, watch, ThreadEvent) as stream:
            # The surface sends a heartbeat of its own where nothing happens at first; the second item is of the thread.
            stream.next()
            stream.next()
            stream.cancel()
    watch = WatchThreadRequest(thread_id=thread_id, from_sequence=99)
    with opened("grpc", connect_server, WATCH, watch, ThreadEvent) as stream:
        (last,) = stream.messages
    assert last.stream_gap.requested_from_sequence == 99
    # Other tests may watch at the same time.
    assert [_counted(connect_server, name) - old for name, old in zip(names, before, strict=True)] >= [2, 1]


def test_snapshots_pages_lists_and_cancels(connect_server: Server) -> None:
    thread_id = created(connect_server)
    request = SendTurnRequest(thread_id=thread_id, user_text="greet me", client_message_id="one", wait_sec=60)
    sent = call(connect_server, "TurnsService/SendTurn", request, SendTurnResponse)
    snapshot = call(
        connect_server,
        "ThreadsService/GetThreadSnapshot",
        GetThreadSnapshotRequest(thread_id=thread_id),
        GetThreadSnapshotResponse,
    )
    assert snapshot.last_sequence == sent.last_sequence and snapshot.title == "greet me"
    assert [message.role for message in snapshot.messages] == ["user", "assistant"]
    assert snapshot.messages[1].message_id == sent.assistant_message_id
    page = call(
        connect_server,
        "ThreadsService/ListThreadMessages",
        ListThreadMessagesRequest(thread_id=thread_id, page_size=1),
        ListThreadMessagesResponse,
    )
    assert [message.role for message in page.items] == ["assistant"] and page.next_page_token
    listed = call(
        connect_server, "ThreadsService/ListThreads", ListThreadsRequest(query="greet me"), ListThreadsResponse
    )
    assert thread_id in [thread.thread_id for thread in listed.items]
    ended = call(connect_server, "TurnsService/CancelTurn", CancelTurnRequest(turn_id=sent.turn_id), CancelTurnResponse)
    assert (ended.turn_id, ended.status) == (sent.turn_id, "COMPLETED")


@every_wire
def test_a_claimed_trigger_and_an_unknown_thread_are_refused(connect_server: Server, wire: str) -> None:
    claimed = StartTurnRequest(thread_id=created(connect_server), user_text="x", trigger_type=SCHEDULE_WAKEUP)
    with opened(wire, connect_server, START, claimed, ThreadEvent) as stream:
        assert events(stream) == []
    assert stream.error == "POLICY_DENIED"
    with opened(wire, connect_server, WATCH, WatchThreadRequest(thread_id="thr_none"), ThreadEvent) as stream:
        assert events(stream) == []
    assert stream.error == "THREAD_NOT_FOUND"
