"""Every operation over one service: what is sent, what comes back, and who may."""

import json

import pytest

from tests.harness import Server
from tests.surfaces.http.wire import CALL, STREAM, Answer, at, call, found_events, frames, opened, owner, send, stream


def post(server: Server, body: bytes, path: str = CALL, **headers: str) -> Answer:
    return send(server, "POST", path, body=body, headers={**owner(server), **headers})


class TestCall:
    def test_the_envelope_is_result_and_meta(self, codeplane_server: Server) -> None:
        answer = call(codeplane_server, "session.create", {"description": "a task"})
        assert answer.status == 200
        assert set(answer.json) == {"result", "meta"}
        assert str(answer.meta["session_id"]).startswith("sess_")
        assert str(answer.meta["call_id"]).startswith("call_")

    def test_text_comes_on_request(self, codeplane_server: Server) -> None:
        answer = post(codeplane_server, b'{"operation":"status","text":true}')
        assert str(answer.json["text"]).startswith("repo ")

    @pytest.mark.parametrize("path", [CALL, STREAM])
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
            b'{"operation":"status","connection_id":"\\ud800"}',
            b'{"operation":' + b"[" * 100_000,
            b"[]",
            b'"status"',
            b"null",
            b"{}",
            b'{"operation":null}',
            b'{"operation":7}',
            b'{"operation":"status","arguments":[]}',
            b'{"operation":"status","arguments":"x"}',
            b'{"operation":"status","connection_id":7}',
            b'{"operation":"status","connection_id":"' + b"x" * 201 + b'"}',
        ],
    )
    def test_a_malformed_body_is_answered_as_such(self, codeplane_server: Server, path: str, body: bytes) -> None:
        answer = post(codeplane_server, body, path)
        assert (answer.status, answer.error["error"]) == (400, "MALFORMED_REQUEST")
        assert answer.json["code"] == "invalid_argument"

    def test_half_a_pair_in_its_right_place_is_a_character(self, codeplane_server: Server) -> None:
        answer = post(codeplane_server, b'{"operation":"session.create","arguments":{"description":"\\ud83d\\ude00"}}')
        assert at(answer.result, "task", "description") == "😀"

    def test_an_unknown_operation_comes_with_the_nearest(self, codeplane_server: Server) -> None:
        answer = call(codeplane_server, "session.inf")
        assert (answer.status, answer.error["error"]) == (404, "UNKNOWN_OPERATION")
        assert "session.info" in str(answer.error["hint"])
        assert answer.json["code"] == "unimplemented"

    def test_the_tool_name_is_understood_too(self, codeplane_server: Server) -> None:
        assert call(codeplane_server, "session_info").status == 200

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            ({"descripton": "x"}, "did you mean 'description'?"),
            ({"zzz": 1}, "unknown argument 'zzz'"),
            ({"description": 7}, "description"),
            ({"limits": {"max_mutations": "many"}}, "limits.max_mutations"),
            ({"limits": {"max_mutations": -1}}, "limits.max_mutations"),
        ],
    )
    def test_wrong_arguments_are_named(self, codeplane_server: Server, arguments: object, said: str) -> None:
        answer = call(codeplane_server, "session.create", arguments)
        assert (answer.status, answer.error["error"]) == (400, "INVALID_ARGUMENT")
        assert said in str(answer.error["message"])
        assert "session.create(" in str(answer.error["hint"])

    def test_a_stream_is_not_called(self, codeplane_server: Server) -> None:
        answer = call(codeplane_server, "ledger.watch")
        assert (answer.status, answer.error["error"]) == (400, "INVALID_ARGUMENT")

    def test_a_crash_is_answered_and_the_server_lives(self, fixture_server: Server) -> None:
        answer = call(fixture_server, "fixture.crash")
        assert (answer.status, answer.error["error"]) == (500, "INTERNAL")
        assert answer.error["causes"]
        assert call(fixture_server, "status").status == 200


class TestTime:
    def test_a_callers_deadline_is_kept(self, fixture_server: Server) -> None:
        headers = {**owner(fixture_server), "Connect-Timeout-Ms": "50"}
        answer = call(fixture_server, "fixture.wait", {"name": "deadline"}, headers=headers)
        assert (answer.status, answer.error["error"]) == (504, "DEADLINE_EXCEEDED")

    @pytest.mark.parametrize("given", ["", "soon", "-1", "1e3", "\xb2", "9" * 5000, "99999999999"])
    def test_a_deadline_that_is_none_is_passed_over(self, codeplane_server: Server, given: str) -> None:
        headers = {**owner(codeplane_server), "Connect-Timeout-Ms": given}
        assert call(codeplane_server, "status", headers=headers).status == 200


class TestToken:
    @pytest.mark.parametrize(
        "header",
        [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x", "Bearer \xe9"],
    )
    def test_without_the_right_token_nothing_is_done_or_recorded(
        self, codeplane_server: Server, header: str | None
    ) -> None:
        headers = {"user-agent": "intruder"}
        if header is not None:
            headers["authorization"] = header.format(token=codeplane_server.token)
        refused = [call(codeplane_server, name, headers=headers) for name in ("status", "session.create")]
        for answer in refused:
            assert (answer.status, answer.error["error"]) == (401, "UNAUTHORIZED")
            assert answer.json["code"] == "unauthenticated"
            assert answer.meta["session_id"] is None
        call(codeplane_server, "ledger.verify")  # returns when everything said so far is written
        for answer in refused:
            found = found_events(call(codeplane_server, "ledger.events", {"call_id": answer.meta["call_id"]}))
            assert {event["actor"] for event in found} <= {"system:unidentified"}
        opened = found_events(call(codeplane_server, "ledger.events", {"types": ["session.opened"], "limit": 1000}))
        assert "intruder" not in {at(event, "payload", "client") for event in opened}

    def test_the_scheme_is_known_in_any_case(self, codeplane_server: Server) -> None:
        assert (
            call(codeplane_server, "status", headers={"authorization": f"bEARER {codeplane_server.token}"}).status
            == 200
        )

    def test_a_stream_needs_it_as_well(self, codeplane_server: Server) -> None:
        body = b'{"operation":"ledger.watch"}'
        with opened(codeplane_server, "POST", STREAM, body=body, headers={}) as response:
            ((flag, end),) = frames(response)
        assert flag == 2
        assert at(end, "error", "error", "error") == "UNAUTHORIZED"

    def test_who_calls_is_fit_for_a_log(self, codeplane_server: Server) -> None:
        headers = {**owner(codeplane_server), "user-agent": "tool\x9b31m" + "x" * 200}
        meta = call(codeplane_server, "status", headers=headers).meta
        call(codeplane_server, "ledger.verify")  # returns when everything said so far is written
        wanted = {"in_session": meta["session_id"], "types": ["session.opened"]}
        (event,) = found_events(call(codeplane_server, "ledger.events", wanted))
        assert at(event, "payload", "client") == "tool?31m" + "x" * 72


class TestStream:
    def test_items_come_in_frames_and_the_last_says_how_it_ended(self, fixture_server: Server) -> None:
        with stream(fixture_server, "fixture.ticks") as response:
            assert (response.status, response.headers["content-type"]) == (200, "application/connect+json")
            found = list(frames(response))
        assert found[:-1] == [(0, {"number": number}) for number in range(3)]
        flag, end = found[-1]
        assert (flag, set(end)) == (2, {"metadata", "meta"})
        assert response.headers["x-request-id"] == at(end, "meta", "request_id")

    def test_an_error_is_in_the_last_frame(self, codeplane_server: Server) -> None:
        for operation, arguments, name, code in (
            ("no.such", {}, "UNKNOWN_OPERATION", "unimplemented"),
            ("ledger.watch", {"after": -1}, "INVALID_ARGUMENT", "invalid_argument"),
        ):
            with stream(codeplane_server, operation, arguments) as response:
                assert response.status == 200
                ((flag, end),) = frames(response)
            assert (flag, at(end, "error", "code"), at(end, "error", "error", "error")) == (2, code, name)

    def test_a_call_that_answers_once_is_a_stream_of_one(self, codeplane_server: Server) -> None:
        with stream(codeplane_server, "session.info") as response:
            flags = [flag for flag, _ in frames(response)]
        assert flags == [0, 2]

    def test_the_request_may_be_enveloped_as_connect_does_it(self, fixture_server: Server) -> None:
        message = json.dumps({"operation": "fixture.ticks"}).encode()
        envelope = b"\0" + len(message).to_bytes(4, "big") + message
        with opened(fixture_server, "POST", STREAM, body=envelope) as response:
            assert [flag for flag, _ in frames(response)] == [0, 0, 0, 2]

    @pytest.mark.parametrize("body", [b"\0", b"\0\0\0\0\x05{}", b"\0\0\0\0\x01{}", b"\x01\0\0\0\x02{}"])
    def test_a_wrong_envelope_is_malformed(self, codeplane_server: Server, body: bytes) -> None:
        answer = post(codeplane_server, body, STREAM)
        assert (answer.status, answer.error["error"]) == (400, "MALFORMED_REQUEST")
