"""Typed methods that stream: the same messages, ends and errors over every protocol."""

import pytest
from google.protobuf.message import Message

from codeplane._gen.events_pb2 import Event
from codeplane._gen.operations_pb2 import StreamRequest, StreamResponse
from codeplane._gen.work_pb2 import (
    WORK_COMPLETED,
    GetWorkRequest,
    GetWorkResponse,
    ListWorkRequest,
    ListWorkResponse,
    RunWorkRequest,
    StartWorkRequest,
    StartWorkResponse,
    WatchWorkRequest,
    WorkStep,
)
from tests.harness import Server, until
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import call
from tests.surfaces.grpc.channel import call as grpc_call
from tests.surfaces.services.wires import WIRES, Stream, opened

pytestmark = requirement("RPC-08")

RUN, WATCH = "WorkService/RunWork", "WorkService/WatchWork"
every_wire = pytest.mark.parametrize("wire", WIRES)


def steps(*operations: str) -> list[WorkStep]:
    return [WorkStep(operation=operation) for operation in operations]


def events(stream: Stream[Event]) -> list[Event]:
    """All events until the stream ends, without the heartbeats."""
    return [event for event in stream.messages if not event.HasField("heartbeat")]


def is_event(message: Event) -> bool:
    return not message.HasField("heartbeat")


def unary(server: Server, method: str, request: Message, kind: type[Message]) -> Message:
    return grpc_call(server, f"WorkService/{method}", request, kind)


@pytest.fixture
def finished(connect_server: Server) -> str:
    """A work item that has ended, with four events."""
    with opened("grpc", connect_server, RUN, RunWorkRequest(steps=steps("status")), Event) as stream:
        return events(stream)[0].stream.removeprefix("work/")


class TestCallAndStream:
    @every_wire
    def test_events_come_from_the_first_to_the_one_that_ends_it(self, connect_server: Server, wire: str) -> None:
        request = RunWorkRequest(steps=steps("status", "session.info"), title=f"two calls over {wire}")
        with opened(wire, connect_server, RUN, request, Event) as stream:
            found = events(stream)
        assert [event.type for event in found] == [
            "work.created",
            "work.leased",
            "work.stepped",
            "work.stepped",
            "work.completed",
        ]
        assert [event.sequence for event in found] == [1, 2, 3, 4, 5] and stream.error == ""
        assert found[0].occurred_at.seconds > 0 and found[0].data["title"] == request.title

    @every_wire
    def test_the_same_key_attaches_to_what_the_first_one_started(self, connect_server: Server, wire: str) -> None:
        request = RunWorkRequest(steps=steps("status"), idempotency_key=f"attach-{wire}")
        with opened(wire, connect_server, RUN, request, Event) as stream:
            first = events(stream)
        request.from_sequence = 2
        with opened(wire, connect_server, RUN, request, Event) as stream:
            again = events(stream)
        assert [event.event_id for event in again] == [event.event_id for event in first][2:]

    @every_wire
    def test_what_the_first_call_refuses_is_the_error_and_nothing_streams(
        self, connect_server: Server, wire: str
    ) -> None:
        with opened(wire, connect_server, RUN, RunWorkRequest(steps=steps("no.such")), Event) as stream:
            assert (events(stream), stream.error) == ([], "INVALID_ARGUMENT")
        request = RunWorkRequest(steps=steps("status"), idempotency_key=f"conflict-{wire}")
        for titled, error in (("one", ""), ("other", "IDEMPOTENCY_CONFLICT")):
            request.title = titled
            with opened(wire, connect_server, RUN, request, Event) as stream:
                found = events(stream)
            assert (bool(found), stream.error) == (not error, error)


class TestWatch:
    @every_wire
    def test_a_sequence_is_an_exclusive_bound(self, connect_server: Server, finished: str, wire: str) -> None:
        with opened(wire, connect_server, WATCH, WatchWorkRequest(work_id=finished), Event) as stream:
            all_ = [stream.next(is_event) for _ in range(4)]
        with opened(wire, connect_server, WATCH, WatchWorkRequest(work_id=finished, from_sequence=3), Event) as stream:
            assert stream.next(is_event) == all_[3]

    @every_wire
    def test_a_quiet_one_tells_how_far_it_is(self, connect_server: Server, finished: str, wire: str) -> None:
        request = WatchWorkRequest(work_id=finished, from_sequence=4, heartbeat_ms=100)
        with opened(wire, connect_server, WATCH, request, Event) as stream:
            first, second = stream.next(), stream.next()
        assert (first.heartbeat.latest_sequence, first.heartbeat.position) == (4, 0)
        assert second.heartbeat.latest_sequence == 4 and second.heartbeat.position > 4

    @every_wire
    def test_a_gap_is_a_message_and_a_good_end(self, connect_server: Server, finished: str, wire: str) -> None:
        request = WatchWorkRequest(work_id=finished, from_sequence=99)
        with opened(wire, connect_server, WATCH, request, Event) as stream:
            (gap,) = events(stream)
        assert (gap.stream_gap.requested_from_sequence, gap.stream_gap.stream) == (99, f"work/{finished}")
        assert stream.error == ""

    @every_wire
    @pytest.mark.parametrize(
        ("request_", "error"),
        [
            (WatchWorkRequest(work_id="work_none"), "WORK_NOT_FOUND"),
            (WatchWorkRequest(), "INVALID_ARGUMENT"),
            (WatchWorkRequest(work_id="work_none", heartbeat_ms=1), "INVALID_ARGUMENT"),
        ],
        ids=["unknown", "empty", "heartbeat"],
    )
    def test_what_cannot_be_watched_is_a_typed_error(
        self, connect_server: Server, wire: str, request_: WatchWorkRequest, error: str
    ) -> None:
        with opened(wire, connect_server, WATCH, request_, Event) as stream:
            assert (list(stream.messages), stream.error) == ([], error)

    @pytest.mark.parametrize("wire", WIRES[:3])
    def test_a_deadline_ends_it_with_a_typed_error(self, connect_server: Server, finished: str, wire: str) -> None:
        name = "grpc-timeout" if wire == "grpc-web" else "connect-timeout-ms"
        request = WatchWorkRequest(work_id=finished)
        with opened(
            wire, connect_server, WATCH, request, Event, headers={name: "500m" if wire == "grpc-web" else "500"}
        ) as stream:
            assert len(events(stream)) == 4
        assert stream.error == "DEADLINE_EXCEEDED"

    @every_wire
    def test_an_error_in_the_middle_is_typed(self, own_server: Server, wire: str) -> None:
        started = unary(own_server, "StartWork", StartWorkRequest(steps=steps("status")), StartWorkResponse)
        assert isinstance(started, StartWorkResponse)
        with opened(wire, own_server, WATCH, WatchWorkRequest(work_id=started.item.work_id), Event) as stream:
            assert stream.next(is_event).type == "work.created"
            assert own_server.stop() == 0
            list(stream.messages)
        assert stream.error == "SHUTTING_DOWN"

    @every_wire
    def test_a_reader_that_goes_away_is_let_go(self, connect_server: Server, wire: str) -> None:
        request = StartWorkRequest(steps=steps("status"), title=f"left by {wire}")
        item = unary(connect_server, "StartWork", request, StartWorkResponse)
        assert isinstance(item, StartWorkResponse)
        work_id = item.item.work_id
        with opened(wire, connect_server, WATCH, WatchWorkRequest(work_id=work_id), Event) as stream:
            stream.next(is_event)
            stream.cancel()
        wanted = {"types": ["call.finished"], "newest": True, "limit": 200}

        def let_go() -> bool:
            page = call(connect_server, "ledger.events", wanted).json["result"]
            assert isinstance(page, dict)
            ends = [event["payload"] for event in page["results"] if event["payload"]["operation"] == "work.watch"]
            return any((end["arguments"]["work_id"], end["status"]) == (work_id, "CANCELLED") for end in ends)

        assert until(let_go)


class TestUnary:
    def test_words_numbers_and_steps_find_their_fields(self, connect_server: Server, finished: str) -> None:
        shown = unary(connect_server, "GetWork", GetWorkRequest(work_id=finished), GetWorkResponse)
        assert isinstance(shown, GetWorkResponse)
        assert (shown.item.state, shown.item.steps_done, shown.item.sequence) == (WORK_COMPLETED, 1, 4)
        assert shown.item.max_seconds > 1 and shown.item.steps[0].operation == "status"
        listed = unary(connect_server, "ListWork", ListWorkRequest(state=WORK_COMPLETED, page_size=1), ListWorkResponse)
        assert isinstance(listed, ListWorkResponse)
        assert listed.items[0].state == WORK_COMPLETED and listed.next_page_token

    def test_limits_and_arguments_arrive(self, connect_server: Server) -> None:
        step = WorkStep(operation="fixture.answer")
        step.arguments["size"] = 3
        request = StartWorkRequest(steps=[step], max_seconds=7.5, max_steps=2)
        started = unary(connect_server, "StartWork", request, StartWorkResponse)
        assert isinstance(started, StartWorkResponse)
        assert (started.item.max_seconds, started.item.max_steps) == (7.5, 2)


@every_wire
def test_a_slow_reader_bounds_what_is_made_for_it(connect_server: Server, wire: str) -> None:
    """A reader that takes one item and stops: the handler is asked for few more, not for all."""
    request = StreamRequest(operation="fixture.flood")
    request.arguments["name"] = wire
    with opened(wire, connect_server, "OperationService/Stream", request, StreamResponse) as stream:
        stream.next()
        made, count = -1, call(connect_server, "fixture.flooded", {"name": wire})
        while made != (made := int(str(count.json["result"]["number"]))):  # type: ignore[index,call-overload]
            count = call(connect_server, "fixture.flooded", {"name": wire})
        stream.cancel()
    assert 0 < made < 300


@requirement("RPC-11")
@every_wire
def test_progress_comes_between_the_items_where_it_is_asked_for(connect_server: Server, wire: str) -> None:
    request = StreamRequest(operation="fixture.wait", progress=True)
    request.arguments["name"] = f"progress {wire}"
    with opened(wire, connect_server, "OperationService/Stream", request, StreamResponse) as stream:
        first = stream.next()
        assert (first.progress.done, first.progress.total, first.progress.message) == (0, 1, "waiting")
        assert not first.HasField("item") and not first.HasField("meta")
        call(connect_server, "fixture.release", {"name": f"progress {wire}"})
        item, last = stream.messages
    assert item.item["said"] == f"progress {wire} was released" and last.meta["call_id"]


@requirement("RPC-11")
def test_without_asking_there_is_none(connect_server: Server) -> None:
    call(connect_server, "fixture.release", {"name": "silent"})
    request = StreamRequest(operation="fixture.wait")
    request.arguments["name"] = "silent"
    with opened("connect+json", connect_server, "OperationService/Stream", request, StreamResponse) as stream:
        assert not any(message.HasField("progress") for message in stream.messages)


@requirement("RPC-11")
@pytest.mark.parametrize("wire", WIRES[:3])
def test_a_wait_for_a_person_that_is_no_time_is_refused(connect_server: Server, wire: str) -> None:
    request = StreamRequest(operation="status")
    headers = {"codeplane-approval-wait-ms": "soon"}
    with opened(wire, connect_server, "OperationService/Stream", request, StreamResponse, headers=headers) as stream:
        assert (list(stream.messages), stream.error) == ([], "INVALID_ARGUMENT")
