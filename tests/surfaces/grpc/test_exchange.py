"""Streams of calls over gRPC: answers when they are ready, or all at the end, each through the door."""

import queue
from collections.abc import Iterator

import grpc
import pytest

from codeplane._gen.operations_pb2 import (
    CallAllRequest,
    CallAllResponse,
    CallRequest,
    ExchangeRequest,
    ExchangeResponse,
)
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import call, post
from tests.surfaces.grpc.channel import Metadata, channel, owner, refusal

pytestmark = requirement("RPC-09")


class Conversation:
    """Requests that are sent while answers are read."""

    def __init__(self, opened: grpc.Channel, metadata: Metadata, sec: float = 60) -> None:
        self._requests: queue.SimpleQueue[ExchangeRequest | None] = queue.SimpleQueue()
        run = opened.stream_stream(
            "/codeplane.v1.OperationService/Exchange",
            ExchangeRequest.SerializeToString,
            ExchangeResponse.FromString,
        )
        self.answers = run(self._sent(), metadata=metadata, timeout=sec)

    def send(self, id: int, operation: str = "", *, cancel: bool = False, **arguments: str) -> None:
        request = ExchangeRequest(id=id, cancel=cancel)
        request.call.operation = operation
        request.call.arguments.update(arguments)
        self._requests.put(request)

    def end(self) -> None:
        self._requests.put(None)

    def _sent(self) -> Iterator[ExchangeRequest]:
        while (request := self._requests.get()) is not None:
            yield request


class TestExchange:
    def test_answers_come_when_they_are_ready_and_bear_the_number_of_their_call(self, connect_server: Server) -> None:
        with channel(connect_server) as opened:
            talk = Conversation(opened, owner(connect_server))
            talk.send(1, "fixture.wait", name="exchange")
            talk.send(2, "session.info")
            assert next(talk.answers).id == 2
            talk.send(3, "fixture.release", name="exchange")
            found = {answer.id: answer for answer in (next(talk.answers), next(talk.answers))}
            assert set(found) == {1, 3} and found[1].response.result["said"] == "exchange was released"
            talk.end()
            assert list(talk.answers) == []

    def test_a_call_that_fails_is_an_answer_and_the_stream_continues(self, connect_server: Server) -> None:
        with channel(connect_server) as opened:
            talk = Conversation(opened, owner(connect_server))
            for number, (operation, error) in enumerate(
                [("no.such", "UNKNOWN_OPERATION"), ("", "MALFORMED_REQUEST"), ("fixture.crash", "INTERNAL")]
            ):
                talk.send(number, operation)
                answer = next(talk.answers)
                assert (answer.id, answer.error.error) == (number, error) and answer.error.hint
            talk.send(9, "session.info")
            assert next(talk.answers).response.meta["call_id"]
            talk.end()

    def test_a_call_is_cancelled_by_its_number(self, connect_server: Server) -> None:
        with channel(connect_server) as opened:
            talk = Conversation(opened, owner(connect_server))
            talk.send(1, "fixture.wait", name="exchange cancelled")
            talk.send(1, cancel=True)
            answer = next(talk.answers)
            assert (answer.id, answer.error.error) == (1, "CANCELLED")
            talk.send(7, cancel=True)
            talk.end()
            assert list(talk.answers) == []

    def test_a_number_twice_ends_the_stream(self, connect_server: Server) -> None:
        with channel(connect_server) as opened, pytest.raises(grpc.RpcError) as failed:
            talk = Conversation(opened, owner(connect_server))
            talk.send(1, "fixture.wait", name="exchange twice")
            call(connect_server, "fixture.started", {"name": "exchange twice"})
            talk.send(1, "session.info")
            list(talk.answers)
        assert refusal(failed.value)[1].error == "INVALID_ARGUMENT"
        ended = call(connect_server, "fixture.ended", {"name": "exchange twice"}).json["result"]
        assert isinstance(ended, dict) and ended["said"] == "cancelled"

    def test_calls_that_nobody_reads_are_cancelled_with_the_stream(self, connect_server: Server) -> None:
        with channel(connect_server) as opened:
            talk = Conversation(opened, owner(connect_server))
            talk.send(1, "fixture.wait", name="exchange left")
            call(connect_server, "fixture.started", {"name": "exchange left"})
            talk.answers.cancel()
            talk.end()
        ended = call(connect_server, "fixture.ended", {"name": "exchange left"}).json["result"]
        assert isinstance(ended, dict) and ended["said"] == "cancelled"

    def test_at_most_sixteen_are_under_way(self, connect_server: Server) -> None:
        with channel(connect_server) as opened:
            talk = Conversation(opened, owner(connect_server))
            for number in range(16):
                talk.send(number, "fixture.wait", name=f"bound {number}")
            talk.send(16, "session.info")
            # Calls of others are made meanwhile; this one waits for a place.
            assert call(connect_server, "fixture.release", {"name": "bound 3"}).status == 200
            assert [next(talk.answers).id, next(talk.answers).id] == [3, 16]
            talk.answers.cancel()
            talk.end()

    @pytest.mark.parametrize("metadata", [(), (("authorization", "Bearer wrong"),)])
    def test_without_a_good_token_nothing_is_read(self, connect_server: Server, metadata: Metadata) -> None:
        with channel(connect_server) as opened, pytest.raises(grpc.RpcError) as failed:
            talk = Conversation(opened, metadata)
            try:
                list(talk.answers)
            finally:
                talk.end()
        assert refusal(failed.value)[1].error == "UNAUTHORIZED"

    def test_it_ends_with_the_server_and_says_so(self, own_server: Server) -> None:
        with channel(own_server) as opened:
            talk = Conversation(opened, owner(own_server))
            talk.send(1, "session.info")
            next(talk.answers)
            assert own_server.stop() == 0
            with pytest.raises(grpc.RpcError) as failed:
                list(talk.answers)
            talk.end()
        assert refusal(failed.value)[1].error == "SHUTTING_DOWN"


class TestCallAll:
    def test_all_answers_come_in_their_order_at_the_end(self, connect_server: Server) -> None:
        calls = [CallRequest(operation=name) for name in ("session.info", "no.such", "fixture.whoami")]
        answers = self._run(connect_server, calls).answers
        assert [answer.WhichOneof("answer") for answer in answers] == ["response", "error", "response"]
        assert answers[1].error.error == "UNKNOWN_OPERATION" and answers[2].response.result["said"] == "owner:owner"

    def test_none_is_none(self, connect_server: Server) -> None:
        assert len(self._run(connect_server, []).answers) == 0

    def test_too_many_are_refused(self, connect_server: Server) -> None:
        with pytest.raises(grpc.RpcError) as failed:
            self._run(connect_server, [CallRequest(operation="fixture.whoami")] * 1001)
        assert refusal(failed.value)[1].error == "TOO_LARGE"

    @staticmethod
    def _run(server: Server, calls: list[CallRequest]) -> CallAllResponse:
        with channel(server) as opened:
            run = opened.stream_unary(
                "/codeplane.v1.OperationService/CallAll", CallAllRequest.SerializeToString, CallAllResponse.FromString
            )
            requests = (CallAllRequest(call=found) for found in calls)
            return run(requests, metadata=owner(server), timeout=120)


def test_over_http_it_says_where_it_is(connect_server: Server) -> None:
    answer = post(connect_server, "OperationService/Exchange", b"{}")
    assert answer.status == 404 and "gRPC" in str(answer.error["hint"])
