"""What `/mcp` answers to bytes that no client of the protocol would send."""

from __future__ import annotations

import json
import socket
from typing import cast

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.http.wire import open_response

from .clients import HANDSHAKE, INITIALIZE, LEGACY, MODERN, call, request

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
ERAS = {LEGACY: HANDSHAKE, MODERN: MODERN}
DEEP = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.fixture(params=(LEGACY, MODERN))
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def headers(era: str, codeplane_server: Server) -> dict[str, str]:
    """What a client of the era sends with every request."""
    if era == MODERN:
        return {**JSON, "mcp-protocol-version": MODERN}
    response, _ = codeplane_server.request("POST", "/mcp", body=json.dumps(INITIALIZE).encode(), headers=JSON)
    assert response.status == 200
    session = response.headers["mcp-session-id"]
    return {**JSON, "mcp-protocol-version": HANDSHAKE, "mcp-session-id": session}


def error_of(body: bytes) -> JsonObject:
    """The error of a JSON-RPC answer."""
    answer = json.loads(body)
    assert answer["jsonrpc"] == "2.0"
    assert answer["id"] is None
    return cast(JsonObject, answer["error"])


def works(server: Server, era: str, headers: dict[str, str]) -> bool:
    """Whether the same client is still served."""
    more = {"mcp-method": "tools/call", "mcp-name": "status"} if era == MODERN else {}
    body = json.dumps(call("status", era=era)).encode()
    response, answer = server.request("POST", "/mcp", body=body, headers={**headers, **more})
    return response.status == 200 and str(server.repo).encode() in answer


@requirement("MCP-11")
@pytest.mark.parametrize(
    ("body", "code"),
    (
        (b"", -32700),
        (b"{", -32700),
        (b"nonsense", -32700),
        (b"\xff\xfe\x00{", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\xff"}}', -32700),
        (DEEP, -32700),
        (b"null", None),
        (b"17", None),
        (b'"text"', None),
        (b"[]", None),
        (json.dumps([request("ping"), request("ping", number=2)]).encode(), None),
        (b'{"id":1,"method":"ping"}', None),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":1,"method":17}', None),
    ),
    ids=range(14),
)
def test_what_is_no_message_is_a_json_rpc_error(
    body: bytes, code: int | None, era: str, headers: dict[str, str], codeplane_server: Server
) -> None:
    response, answer = codeplane_server.request("POST", "/mcp", body=body, headers=headers)

    assert response.status == 400
    assert error_of(answer)["code"] in ((code,) if code else (-32600, -32602))
    assert works(codeplane_server, era, headers)


def test_a_message_must_say_that_it_is_json(era: str, headers: dict[str, str], codeplane_server: Server) -> None:
    body = json.dumps(call("status", era=era)).encode()
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        response, _ = codeplane_server.request(
            "POST", "/mcp", body=body, headers={**headers, "content-type": content_type}
        )
        assert response.status == 400
    response, _ = codeplane_server.request("POST", "/mcp", body=body, headers={**headers, "accept": "text/html"})
    assert response.status == 406
    assert works(codeplane_server, era, headers)


def test_a_body_over_the_limit_is_refused_whether_announced_or_not(
    era: str, headers: dict[str, str], codeplane_server: Server
) -> None:
    large = json.dumps(call("status", {"include": "x" * (4 * 1024 * 1024)}, era=era)).encode()
    response, answer = codeplane_server.request("POST", "/mcp", body=large, headers=headers)
    assert response.status == 413
    assert json.loads(answer)["error"]["error"] == "TOO_LARGE"

    with socket.create_connection(("127.0.0.1", codeplane_server.port), timeout=30) as connection:
        sent = [f"{name}: {value}" for name, value in headers.items()]
        head = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{codeplane_server.port}", "Transfer-Encoding: chunked", *sent]
        connection.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        try:
            for _ in range(5):
                connection.sendall(b"%x\r\n%b\r\n" % (1024 * 1024, b"x" * (1024 * 1024)))
        except OSError:
            pass  # It need not listen to the end.
        status = connection.recv(1024).split(b"\r\n")[0]
    assert status.split(b" ")[1] == b"413", status
    assert works(codeplane_server, era, headers)


@pytest.mark.parametrize("method", ("PUT", "PATCH", "OPTIONS", "TRACE"))
def test_other_methods_are_not_allowed(
    method: str, era: str, headers: dict[str, str], codeplane_server: Server
) -> None:
    response, _ = codeplane_server.request(method, "/mcp", headers=headers)

    assert response.status == 405
    assert "POST" in response.headers["allow"]


def test_what_opens_no_session_names_none(codeplane_server: Server) -> None:
    headers = {**JSON, "mcp-protocol-version": HANDSHAKE, "accept": "application/json, text/event-stream"}
    for method in ("GET", "DELETE", "POST"):
        body = json.dumps(call("status")).encode() if method == "POST" else None
        response, answer = codeplane_server.request(method, "/mcp", body=body, headers=headers)
        assert response.status == 400
        assert error_of(answer)["message"] == "Bad Request: Missing session ID"
        assert "mcp-session-id" not in response.headers


def test_a_session_that_is_not_there_is_not_found(codeplane_server: Server) -> None:
    headers = {**JSON, "mcp-protocol-version": HANDSHAKE, "mcp-session-id": "forged"}
    for method in ("POST", "GET", "DELETE"):
        body = json.dumps(call("status")).encode() if method == "POST" else None
        response, answer = codeplane_server.request(method, "/mcp", body=body, headers=headers)
        assert response.status == 404
        assert error_of(answer)["message"] == "Session not found"


def test_a_call_without_a_session_is_refused_in_the_handshake_era(codeplane_server: Server) -> None:
    response, answer = codeplane_server.request("POST", "/mcp", body=json.dumps(call("status")).encode(), headers=JSON)

    assert response.status == 400
    assert "session" in str(error_of(answer)["message"]).lower()


def test_a_version_that_nobody_speaks_is_answered_with_those_we_do(codeplane_server: Server) -> None:
    body = json.dumps(call("status", era=MODERN)).encode().replace(MODERN.encode(), b"2099-01-01")
    headers = {**JSON, "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/call", "mcp-name": "status"}

    response, answer = codeplane_server.request("POST", "/mcp", body=body, headers=headers)

    assert response.status == 400
    assert MODERN in json.loads(answer)["error"]["data"]["supported"]


@pytest.mark.parametrize(
    "params",
    (
        {"name": "status", "arguments": "text"},
        {"name": "status", "arguments": ["list"]},
        {"name": 17, "arguments": {}},
        {"arguments": {}},
        {},
    ),
    ids=range(5),
)
def test_a_call_of_the_wrong_shape_is_invalid(
    params: JsonObject, era: str, headers: dict[str, str], codeplane_server: Server
) -> None:
    body = request("tools/call", params, era=era)
    more = {"mcp-method": "tools/call", "mcp-name": "status"} if era == MODERN else {}

    response, answer = codeplane_server.request(
        "POST", "/mcp", body=json.dumps(body).encode(), headers={**headers, **more}
    )

    assert response.status in (200, 400)
    assert b'"error"' in answer
    assert works(codeplane_server, era, headers)


@pytest.mark.parametrize("value", ("\ud800", "nul\0nul", "\u202e", "x" * 100_000), ids=("half", "nul", "rtl", "long"))
def test_odd_text_in_arguments_does_no_harm(
    value: str, era: str, headers: dict[str, str], codeplane_server: Server
) -> None:
    more = {"mcp-method": "tools/call", "mcp-name": "task_list"} if era == MODERN else {}
    for arguments in ({"cursor": value}, {value: 1}, {"session_id": value}, {"limit": value}):
        body = json.dumps(call("task_list", cast(JsonObject, arguments), era=era)).encode()
        response, answer = codeplane_server.request("POST", "/mcp", body=body, headers={**headers, **more})
        assert response.status in (200, 400)
        assert b'"isError":true' in answer or b'"error"' in answer
    assert works(codeplane_server, era, headers)


@pytest.mark.parametrize("depth", (50, 150, 190, 250, 500, 900, 3000))
def test_deep_arguments_do_no_harm(depth: int, era: str, headers: dict[str, str], codeplane_server: Server) -> None:
    more = {"mcp-method": "tools/call", "mcp-name": "task_list"} if era == MODERN else {}
    body = json.dumps(call("task_list", {"limit": "@"}, era=era)).replace('"@"', "[" * depth + "]" * depth).encode()

    response, answer = codeplane_server.request("POST", "/mcp", body=body, headers={**headers, **more})

    assert response.status in (200, 400)
    assert b'"isError":true' in answer or b'"error"' in answer
    assert works(codeplane_server, era, headers)


def test_no_page_of_another_site_reaches_it(era: str, headers: dict[str, str], codeplane_server: Server) -> None:
    body = json.dumps(call("status", era=era)).encode()
    for more in ({"origin": "https://evil.example"}, {"origin": "null"}, {"host": "evil.example"}):
        for path in ("/mcp", "/mcp/stdio"):
            response, _ = codeplane_server.request("POST", path, body=body, headers={**headers, **more})
            assert response.status == 403


def test_every_answer_names_the_repository(era: str, headers: dict[str, str], codeplane_server: Server) -> None:
    for body in (b"nonsense", json.dumps(call("status", era=era)).encode()):
        response, _ = codeplane_server.request("POST", "/mcp", body=body, headers=headers)
        assert response.headers["x-codeplane-repo"] == str(codeplane_server.repo)


@pytest.mark.parametrize("last", ("1", "0", "unknown_event"))
def test_a_client_that_reconnects_after_an_event_gets_its_stream(last: str, codeplane_server: Server) -> None:
    response, _ = codeplane_server.request("POST", "/mcp", body=json.dumps(INITIALIZE).encode(), headers=JSON)
    session = {"mcp-protocol-version": HANDSHAKE, "mcp-session-id": response.headers["mcp-session-id"]}
    with open_response(codeplane_server, "GET", "/mcp", headers={**JSON, **session, "last-event-id": last}) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert works(codeplane_server, LEGACY, {**JSON, **session})
