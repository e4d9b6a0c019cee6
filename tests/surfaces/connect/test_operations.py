"""`OperationService` over Connect in JSON: every operation by name, errors with ours inside."""

import json

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import (
    CALL,
    FRAMED,
    STREAM,
    Answer,
    call,
    error_of,
    frame,
    frames,
    open_response,
    owner,
    post,
)

pytestmark = requirement("RPC-01")


def refused(answer: Answer) -> tuple[int, object, object]:
    return answer.status, answer.json["code"], answer.error["error"]


class TestCall:
    @requirement("DOOR-07")
    def test_it_answers_with_the_envelope(self, connect_server: Server) -> None:
        answer = call(connect_server, "session.create", {"description": "größer"})
        assert answer.status == 200 and set(answer.json) == {"result", "meta"}
        assert answer.headers["x-request-id"] == answer.json["meta"]["request_id"]  # type: ignore[index,call-overload]
        assert "größer" in answer.body.decode()

    def test_people_get_text_on_request(self, connect_server: Server) -> None:
        answer = post(connect_server, CALL, b'{"operation":"status","text":true}')
        assert str(answer.json["text"]).startswith("repo ")

    def test_a_key_beside_the_arguments_makes_it_happen_once(self, connect_server: Server) -> None:
        body = b'{"operation":"session.create","idempotencyKey":"twice"}'
        first, second = post(connect_server, CALL, body), post(connect_server, CALL, body)
        assert first.json["result"] == second.json["result"]
        assert second.json["meta"]["replayed"] is True  # type: ignore[index,call-overload]

    def test_exact_gives_the_result_as_text(self, connect_server: Server) -> None:
        body = b'{"operation":"session.info","argumentsJson":"{}","exact":true}'
        found = post(connect_server, CALL, body).json["resultJson"]
        assert json.loads(str(found))["action"] == "status"

    @requirement("SRV-10")
    @pytest.mark.parametrize("method", [CALL, STREAM])
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"nonsense",
            b'{"operation":"status"} {}',
            b'{"operation":"st\xff"}',
            '{"operation":"status"}'.encode("utf-16"),
            b'{"operation":"status","arguments":{"x":NaN}}',
            b'{"operation":"status","arguments":{"x":-Infinity}}',
            b'{"operation":"\\ud800"}',
            b'{"operation":"status","arguments":{"session_id":"\\udfff"}}',
            b'{"operation":' + b"[" * 100_000,
            b"[]",
            b"null",
            b"{}",
            b'{"operation":null}',
            b'{"operation":7}',
            b'{"operation":"status","argumens":{}}',
            b'{"operation":"status","arguments":[]}',
            b'{"operation":"status","arguments":{"a":1},"argumentsJson":"{}"}',
            b'{"operation":"status","argumentsJson":"[]"}',
            b'{"operation":"status","arguments":{"session_id":"a"},"sessionId":"b"}',
            b'{"operation":"status","text":"yes"}',
            b'{"operation":"status","connection_id":7}',
            b'{"operation":"status","connection_id":"' + b"x" * 201 + b'"}',
        ],
    )
    def test_a_malformed_body_is_answered_as_such(self, connect_server: Server, method: str, body: bytes) -> None:
        if method == CALL:
            assert refused(post(connect_server, CALL, body)) == (400, "invalid_argument", "MALFORMED_REQUEST")
            return
        with open_response(connect_server, STREAM, frame(body)) as response:
            ((flag, end),) = frames(response)
        assert (flag, error_of(end["error"])["error"]) == (2, "MALFORMED_REQUEST")

    def test_an_unknown_operation_comes_with_the_nearest(self, connect_server: Server) -> None:
        answer = call(connect_server, "session.inf")
        assert refused(answer) == (501, "unimplemented", "UNKNOWN_OPERATION")
        assert "session.info" in str(answer.error["hint"])

    @requirement("DOOR-07")
    def test_errors_carry_the_meta_of_their_call(self, connect_server: Server) -> None:
        answer = call(connect_server, "session.create", {"descripton": "x"})
        assert refused(answer) == (400, "invalid_argument", "INVALID_ARGUMENT")
        assert answer.error["meta"]["request_id"] == answer.headers["x-request-id"]  # type: ignore[index,call-overload]

    def test_a_stream_is_not_called(self, connect_server: Server) -> None:
        assert refused(call(connect_server, "ledger.watch"))[2] == "INVALID_ARGUMENT"

    @requirement("SRV-10")
    def test_a_crash_is_answered_and_the_server_lives(self, connect_server: Server) -> None:
        answer = call(connect_server, "fixture.crash")
        assert refused(answer) == (500, "internal", "INTERNAL")
        assert call(connect_server, "status").status == 200


class TestForm:
    def test_without_a_content_type_it_is_json(self, connect_server: Server) -> None:
        assert post(connect_server, CALL, b'{"operation":"session.info"}', kind=None).status == 200

    @requirement("SRV-10")
    @pytest.mark.parametrize(
        "kind",
        ["application/x-www-form-urlencoded", "text/plain", "application/xml", "application/grpc", FRAMED, "", "\xff"],
    )
    def test_another_content_type_is_refused_with_the_right_one(self, connect_server: Server, kind: str) -> None:
        headers = {**owner(connect_server), "content-type": kind}
        answer = post(connect_server, CALL, b'{"operation":"session.info"}', kind=None, headers=headers)
        assert refused(answer) == (415, "invalid_argument", "MALFORMED_REQUEST")

    def test_a_charset_does_no_harm(self, connect_server: Server) -> None:
        kind = "application/json; charset=utf-8"
        assert post(connect_server, CALL, b'{"operation":"session.info"}', kind=kind).status == 200

    @requirement("SRV-10")
    def test_get_does_nothing(self, connect_server: Server) -> None:
        response, _ = connect_server.request("GET", f"/codeplane.v1.{CALL}", headers=owner(connect_server))
        assert (response.status, response.headers["allow"]) == (405, "POST")

    @requirement("SRV-10")
    @pytest.mark.parametrize("method", ["OperationService/Nope", "NopeService/Call", "OperationService", ""])
    def test_what_is_not_there_is_unimplemented(self, connect_server: Server, method: str) -> None:
        answer = post(connect_server, method, b"{}")
        assert (answer.status, answer.json["code"]) == (404, "unimplemented")

    @requirement("SRV-10")
    def test_another_version_of_the_protocol_is_refused(self, connect_server: Server) -> None:
        headers = {**owner(connect_server), "connect-protocol-version": "2"}
        answer = post(connect_server, CALL, b'{"operation":"status"}', headers=headers)
        assert refused(answer) == (400, "invalid_argument", "MALFORMED_REQUEST") and answer.error["hint"]

    @requirement("SRV-10")
    @pytest.mark.parametrize(
        ("encoding", "code"), [("gzip", "invalid_argument"), ("zstd", "unimplemented"), ("x", "unimplemented")]
    )
    def test_a_body_that_is_not_compressed_as_it_says_is_refused(
        self, connect_server: Server, encoding: str, code: str
    ) -> None:
        headers = {**owner(connect_server), "content-encoding": encoding}
        answer = post(connect_server, CALL, b'{"operation":"status"}', headers=headers)
        assert refused(answer)[1:] == (code, "MALFORMED_REQUEST") and answer.error["hint"]

    @requirement("SRV-10")
    def test_a_body_that_is_too_large_is_refused(self, connect_server: Server) -> None:
        answer = post(connect_server, CALL, b'{"operation":"status","x":"' + b"x" * (5 * 1024 * 1024) + b'"}')
        assert answer.status == 413

    @requirement("SRV-10")
    def test_so_is_one_that_grows_when_it_is_unpacked(self, connect_server: Server) -> None:
        import gzip

        headers = {**owner(connect_server), "content-encoding": "gzip"}
        body = gzip.compress(b'{"operation":"' + b"x" * (64 * 1024 * 1024) + b'"}')
        answer = post(connect_server, CALL, body, headers=headers)
        assert refused(answer) == (429, "resource_exhausted", "TOO_LARGE") and answer.error["hint"]

    @requirement("SRV-10")
    def test_and_one_of_unknown_length(self, connect_server: Server) -> None:
        from http.client import HTTPConnection

        connection = HTTPConnection(connect_server.host, connect_server.port, timeout=30)
        headers = {**owner(connect_server), "content-type": "application/json", "transfer-encoding": "chunked"}
        connection.request(
            "POST", f"/codeplane.v1.{CALL}", (b"x" * 65_536 for _ in range(80)), headers, encode_chunked=True
        )
        response = connection.getresponse()
        body = json.loads(response.read())
        connection.close()
        assert (response.status, error_of(body)["error"]) == (413, "TOO_LARGE")


class TestTime:
    def test_a_callers_deadline_is_kept(self, connect_server: Server) -> None:
        headers = {**owner(connect_server), "Connect-Timeout-Ms": "50"}
        answer = call(connect_server, "fixture.wait", {"name": "deadline"}, headers=headers)
        assert refused(answer) == (504, "deadline_exceeded", "DEADLINE_EXCEEDED")

    @pytest.mark.parametrize("given", ["soon", "-1", "1e3", "\xb2", "9" * 5000, "99999999999"])
    def test_one_that_is_none_is_refused(self, connect_server: Server, given: str) -> None:
        headers = {**owner(connect_server), "Connect-Timeout-Ms": given}
        answer = call(connect_server, "status", headers=headers)
        assert refused(answer) == (400, "invalid_argument", "MALFORMED_REQUEST") and answer.error["hint"]


class TestStream:
    def test_items_come_in_frames_and_then_how_it_ended(self, connect_server: Server) -> None:
        with open_response(connect_server, STREAM, frame({"operation": "fixture.ticks"})) as response:
            assert (response.status, response.headers["content-type"]) == (200, FRAMED)
            found = list(frames(response))
        assert found[:3] == [(0, {"item": {"number": number}}) for number in range(3)]
        flag, last = found[3]
        assert flag == 0 and last["meta"]["request_id"] == response.headers["x-request-id"]  # type: ignore[index,call-overload]
        assert found[4:] == [(2, {})]

    @pytest.mark.parametrize(
        ("operation", "arguments", "name", "code"),
        [
            ("no.such", {}, "UNKNOWN_OPERATION", "unimplemented"),
            ("ledger.watch", {"after": -1}, "INVALID_ARGUMENT", "invalid_argument"),
        ],
    )
    def test_an_error_is_in_the_last_frame(
        self, connect_server: Server, operation: str, arguments: object, name: str, code: str
    ) -> None:
        with open_response(connect_server, STREAM, frame({"operation": operation, "arguments": arguments})) as response:
            assert response.status == 200
            ((flag, end),) = frames(response)
        error = end["error"]
        assert isinstance(error, dict)
        assert (flag, error["code"], error_of(error)["error"]) == (2, code, name)

    @requirement("DOOR-07")
    def test_a_call_that_answers_once_is_a_stream_of_one(self, connect_server: Server) -> None:
        with open_response(connect_server, STREAM, frame({"operation": "session.info", "text": True})) as response:
            (_, item), (_, meta), (flag, _) = frames(response)
        assert set(item) == {"item", "text"} and set(meta) == {"meta"} and flag == 2

    @requirement("SRV-10")
    @pytest.mark.parametrize("body", [b"", b"\0", b"\0\0\0\0\x05{}", b"\x08\0\0\0\x02{}", b"{}"])
    def test_a_wrong_envelope_is_refused(self, connect_server: Server, body: bytes) -> None:
        with open_response(connect_server, STREAM, body) as response:
            ((flag, end),) = frames(response)
        assert flag == 2 and set(end) == {"error"}
        assert error_of(end["error"])["error"] == "MALFORMED_REQUEST" and error_of(end["error"])["hint"]

    @requirement("SRV-10")
    def test_two_messages_are_one_too_many(self, connect_server: Server) -> None:
        message = frame({"operation": "fixture.ticks"})
        with open_response(connect_server, STREAM, message * 2) as response:
            last = list(frames(response))[-1][1]
        assert error_of(last["error"])["error"] == "MALFORMED_REQUEST"

    @requirement("SRV-10")
    def test_a_message_that_is_too_large_is_refused(self, connect_server: Server) -> None:
        import gzip

        headers = {**owner(connect_server), "connect-content-encoding": "gzip"}
        data = gzip.compress(b'{"operation":"' + b"x" * (64 * 1024 * 1024) + b'"}')
        body = b"\1" + frame(data)[1:]
        with open_response(connect_server, STREAM, body, headers=headers) as response:
            ((flag, end),) = frames(response)
        assert flag == 2 and error_of(end["error"])["error"] == "TOO_LARGE"
