"""The same services in protobuf's bytes, over Connect and over gRPC-Web."""

import json

import pytest
from google.protobuf.json_format import MessageToDict

from codeplane._gen.approvals_pb2 import ListApprovalsRequest, ListApprovalsResponse
from codeplane._gen.events_pb2 import Event, WatchRequest
from codeplane._gen.operations_pb2 import CallRequest, CallResponse, StreamRequest, StreamResponse
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import (
    CALL,
    STREAM,
    WATCH,
    frame,
    frames,
    open_response,
    owner,
    post,
    raw_frames,
)

pytestmark = requirement("RPC-01")

PROTO = "application/proto"
FRAMED_PROTO = "application/connect+proto"
WEB = "application/grpc-web+proto"
_TRAILERS = 0x80


def asked(**fields: object) -> bytes:
    return CallRequest(**fields).SerializeToString()  # type: ignore[arg-type]  # named by the tests


class TestConnect:
    def test_a_call(self, connect_server: Server) -> None:
        request = asked(operation="session.create", arguments={"limits": {"max_mutations": 7}}, text=True)
        answer = post(connect_server, CALL, request, kind=PROTO)
        assert answer.headers["content-type"] == PROTO
        found = CallResponse.FromString(answer.body)
        assert MessageToDict(found.result)["task"]["limits"]["max_mutations"] == 7 and found.text
        assert found.meta["request_id"] == answer.headers["x-request-id"]

    def test_a_stream(self, connect_server: Server) -> None:
        message = frame(StreamRequest(operation="fixture.ticks").SerializeToString())
        with open_response(connect_server, STREAM, message, kind=FRAMED_PROTO) as response:
            *items, last, (flag, _) = raw_frames(response)
        assert [StreamResponse.FromString(data).item["number"] for _, data in items] == [0, 1, 2]
        assert StreamResponse.FromString(last[1]).meta["call_id"] and flag == 2

    def test_a_watch(self, connect_server: Server) -> None:
        message = frame(WatchRequest(types=["session.opened"]).SerializeToString())
        with open_response(connect_server, WATCH, message, kind=FRAMED_PROTO) as response:
            events = (Event.FromString(data) for _, data in raw_frames(response))
            event = next(found for found in events if not found.HasField("heartbeat"))
        assert event.type == "session.opened" and event.sequence == 1 and event.occurred_at.seconds > 0

    def test_a_typed_method(self, connect_server: Server) -> None:
        request = ListApprovalsRequest(page_size=1).SerializeToString()
        answer = post(connect_server, "ApprovalsService/ListApprovals", request, kind=PROTO)
        assert answer.status == 200 and ListApprovalsResponse.FromString(answer.body) is not None

    @pytest.mark.parametrize("body", [b"\xff\xff\xff", b"\x0a\x05ab", b"\x0a\x01\xff"])
    def test_what_is_no_message_is_malformed(self, connect_server: Server, body: bytes) -> None:
        answer = post(connect_server, CALL, body, kind=PROTO)
        assert (answer.status, answer.error["error"]) == (400, "MALFORMED_REQUEST")

    def test_without_a_token_it_is_refused(self, connect_server: Server) -> None:
        answer = post(connect_server, CALL, asked(operation="status"), kind=PROTO, headers={})
        assert (answer.status, answer.error["error"]) == (401, "UNAUTHORIZED")


class TestGrpcWeb:
    def test_a_call(self, connect_server: Server) -> None:
        with open_response(connect_server, CALL, frame(asked(operation="session.info")), kind=WEB) as response:
            (flag, data), (end, trailers) = raw_frames(response)
        assert (flag, end) == (0, _TRAILERS)
        assert CallResponse.FromString(data).result["action"] == "status"
        assert b"grpc-status: 0" in trailers.lower() or b"grpc-status:0" in trailers.lower()

    def test_without_a_token_it_is_refused(self, connect_server: Server) -> None:
        with open_response(
            connect_server, CALL, frame(asked(operation="session.info")), kind=WEB, headers={}
        ) as response:
            output = b"".join(data for _, data in raw_frames(response)).lower()
            output += str(response.headers).lower().encode()
        assert b"grpc-status: 16" in output or b"grpc-status:16" in output

    @pytest.mark.parametrize("given", ["1x", "-1S", "123456789S", ""])
    def test_a_deadline_that_is_none_is_refused(self, connect_server: Server, given: str) -> None:
        headers = {**owner(connect_server), "grpc-timeout": given}
        message = frame(asked(operation="session.info"))
        with open_response(connect_server, CALL, message, kind=WEB, headers=headers) as response:
            output = b"".join(data for _, data in raw_frames(response)).lower() + str(response.headers).lower().encode()
        assert b"grpc-status: 3" in output or b"grpc-status:3" in output
        assert b"grpc-status-details-bin" in output

    def test_a_deadline_is_kept(self, connect_server: Server) -> None:
        headers = {**owner(connect_server), "grpc-timeout": "50m"}
        message = frame(asked(operation="fixture.wait", arguments={"name": "web deadline"}))
        with open_response(connect_server, CALL, message, kind=WEB, headers=headers) as response:
            output = b"".join(data for _, data in raw_frames(response)).lower() + str(response.headers).lower().encode()
        assert b"grpc-status: 4" in output or b"grpc-status:4" in output


def test_json_and_binary_say_the_same(connect_server: Server) -> None:
    with open_response(connect_server, STREAM, frame({"operation": "fixture.ticks"})) as response:
        in_json = [message["item"] for _, message in frames(response) if "item" in message]
    message = frame(StreamRequest(operation="fixture.ticks", exact=True).SerializeToString())
    with open_response(connect_server, STREAM, message, kind=FRAMED_PROTO) as response:
        found = [StreamResponse.FromString(data).item_json for flag, data in raw_frames(response) if not flag]
    assert [json.loads(text) for text in found if text] == in_json
