"""Who is let in over Connect, on calls as on streams: exactly one token, and the right one."""

import socket

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.connect.wire import CALL, STREAM, WATCH, call, error_of, frame, frames, open_response, post

pytestmark = requirement("RPC-02")

TYPED = [
    "AuthService/CreatePairingCode",
    "AuthService/RotateToken",
    "DevicesService/ListDevices",
    "DevicesService/RevokeDevice",
    "ApprovalsService/ListApprovals",
    "ApprovalsService/GetApproval",
    "ApprovalsService/ApproveAction",
    "ApprovalsService/RejectAction",
    "SystemService/GetPolicySummary",
    "SystemService/ListAudit",
    "SystemService/ListNotifications",
    "SystemService/MarkNotificationsRead",
]
# What each of them takes, where something has to be named.
BODIES = {"RevokeDevice": b'{"deviceId":"dev_none"}', "MarkNotificationsRead": b'{"all":true}'}
ACTION = b'{"actionId":"act_none"}'
WRONG = [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x", "Bearer \xe9"]


def body_of(method: str) -> bytes:
    name = method.partition("/")[2]
    return ACTION if name in ("GetApproval", "ApproveAction", "RejectAction") else BODIES.get(name, b"{}")


class TestToken:
    @requirement("TRUST-04")
    @pytest.mark.parametrize("header", WRONG)
    def test_without_the_right_one_nothing_is_done(self, connect_server: Server, header: str | None) -> None:
        headers = {} if header is None else {"authorization": header.format(token=connect_server.token)}
        for operation in ("status", "session.create"):
            answer = call(connect_server, operation, headers=headers)
            assert (answer.status, answer.json["code"], answer.error["error"]) == (
                401,
                "unauthenticated",
                "UNAUTHORIZED",
            )

    @requirement("TRUST-04")
    @pytest.mark.parametrize("method", TYPED)
    def test_no_method_of_any_service_does_without(self, connect_server: Server, method: str) -> None:
        answer = post(connect_server, method, body_of(method), headers={})
        assert (answer.status, answer.error["error"]) == (401, "UNAUTHORIZED")

    @pytest.mark.parametrize("method", TYPED)
    def test_with_the_owners_each_of_them_answers(self, connect_server: Server, method: str) -> None:
        answer = post(connect_server, method, body_of(method))
        # What is named is not there, and only a device rotates its token; nothing is refused for want of one.
        named = {"RotateToken": "POLICY_DENIED", "RevokeDevice": "DEVICE_NOT_FOUND"}.get(method.partition("/")[2])
        if body_of(method) == ACTION:
            named = "APPROVAL_NOT_FOUND"
        assert (answer.error["error"] if answer.status != 200 else None) == named

    @requirement("TRUST-04")
    @pytest.mark.parametrize("header", WRONG)
    @pytest.mark.parametrize("method", [STREAM, WATCH])
    def test_streams_need_it_as_well(self, connect_server: Server, method: str, header: str | None) -> None:
        headers = {} if header is None else {"authorization": header.format(token=connect_server.token)}
        message = {"operation": "ledger.watch"} if method == STREAM else {}
        with open_response(connect_server, method, frame(message), headers=headers) as response:
            ((flag, end),) = frames(response)
        assert flag == 2 and error_of(end["error"])["error"] == "UNAUTHORIZED"

    def test_the_right_one_opens(self, connect_server: Server) -> None:
        headers = {"authorization": f"bEARER {connect_server.token}"}
        assert call(connect_server, "status", headers=headers).status == 200
        assert post(connect_server, "ApprovalsService/ListApprovals", b"{}", headers=headers).status == 200
        with open_response(connect_server, WATCH, frame({}), headers=headers) as response:
            flag, first = next(frames(response))
        assert flag == 0 and first


class TestSmuggling:
    @pytest.mark.parametrize(
        "lines",
        [
            ["Authorization: Bearer {token}", "Authorization: Bearer {token}"],
            ["Authorization: Bearer {token}", "authorization: Bearer other"],
            ["AUTHORIZATION: Basic x", "Authorization: Bearer {token}"],
            ["Authorization: Bearer {token}, Bearer other"],
            ["Authorization: Bearer {token},{token}"],
            ["Authorization: Bearer x {token}"],
        ],
    )
    def test_two_tokens_are_none(self, connect_server: Server, lines: list[str]) -> None:
        answer = raw(connect_server, [line.format(token=connect_server.token) for line in lines])
        assert answer.startswith(b"HTTP/1.1 401 ") and b"UNAUTHORIZED" in answer

    def test_one_is_one(self, connect_server: Server) -> None:
        answer = raw(connect_server, [f"Authorization: Bearer {connect_server.token}"])
        assert answer.startswith(b"HTTP/1.1 200 ")

    @pytest.mark.parametrize("line", ["x-codeplane-timeout-sec: 0.000001", "x-request-id: \x01\x02"])
    def test_headers_of_our_own_are_not_taken_from_outside(self, connect_server: Server, line: str) -> None:
        answer = raw(connect_server, [f"Authorization: Bearer {connect_server.token}", line.replace("\x01\x02", "é")])
        assert answer.startswith(b"HTTP/1.1 200 ")

    def test_a_page_of_another_site_is_refused(self, connect_server: Server) -> None:
        lines = [f"Authorization: Bearer {connect_server.token}", "Origin: https://evil.example"]
        assert raw(connect_server, lines).startswith(b"HTTP/1.1 403 ")


def raw(server: Server, lines: list[str]) -> bytes:
    """One call with exactly these header lines."""
    body = b'{"operation":"session.info"}'
    head = [
        f"POST /codeplane.v1.{CALL} HTTP/1.1",
        f"Host: {server.host}:{server.port}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
        *lines,
        "",
        "",
    ]
    with socket.create_connection((server.host, server.port), timeout=30) as connection:
        connection.sendall("\r\n".join(head).encode("latin-1") + body)
        answer = b""
        while chunk := connection.recv(65_536):
            answer += chunk
    return answer
