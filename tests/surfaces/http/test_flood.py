"""Connections that are opened and then keep the server waiting: a flood of them does not shut the owner out."""

import json
import resource
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import grpc
import pytest

from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.accounts import NOBODY, connect, needs_root, read_to_end
from tests.surfaces.grpc.channel import raw_bytes
from tests.surfaces.http.wire import CALL, owner, send

pytestmark = requirement("SRV-13")

SOCKETS = 1100
HEAD = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
UNFINISHED = {
    "nothing": b"",
    "a head": b"GET /health HTTP/1.1\r\nHost: 127",
    "a body": HEAD % CALL.encode() + b"Content-Length: 100\r\n\r\n{",
    "a chunk": HEAD % CALL.encode() + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    "a body of MCP": HEAD % b"/mcp" + b"Authorization: Bearer x\r\nContent-Length: 100\r\n\r\n{",
    "a stream of MCP": b"POST /mcp/stdio HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
    b"Authorization: Bearer x\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a WebSocket": b"GET /ws/events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
}


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose deadlines are so late that they free no place."""
    overrides = ["server.header_timeout_sec=3600", "server.body_timeout_sec=3600", "server.tls=self_signed"]
    server = start(make_repo(tmp_path_factory.mktemp("flood") / "repo"), overrides=overrides)
    yield server
    server.stop()


@pytest.fixture
def flood() -> Iterator[Callable[..., None]]:
    """Opens many connections that stay open until the test is over."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 3 * SOCKETS)), hard))
    with ExitStack() as stack:

        def open_many(address: tuple[str, int], request: bytes, account: int | None) -> None:
            for _ in range(SOCKETS):
                sock = stack.enter_context(connect(address, account))
                try:
                    sock.sendall(request)
                except ConnectionError:
                    # It has lost its place already.
                    continue

        yield open_many


def _facts(server: Server) -> dict[str, object]:
    found: dict[str, object] = json.loads(server.workspace.server.read_text())
    return found


def grpc_address(server: Server) -> tuple[str, int]:
    return "127.0.0.1", int(str(_facts(server)["grpc_port"]))


def tls_address(server: Server) -> tuple[str, int]:
    return "127.0.0.1", int(str(_facts(server)["tls_url"]).rpartition(":")[2])


def _assert_owner_is_served(server: Server) -> None:
    assert send(server, path="/health").status == 200
    assert cpl("status", cwd=server.repo).returncode == 0
    assert "result" in server.call("status")
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    assert send(server, "POST", "/mcp", body=json.dumps(initialize).encode(), headers=accept).status == 200
    assert send(server, path="/dashboard").status == 401
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(tls_address(server), timeout=60) as plain, context.wrap_socket(plain) as secure:
        secure.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert read_to_end(secure).startswith(b"HTTP/1.1 200")
    root = (server.workspace.tls / "certificate.pem").read_bytes()
    with grpc.secure_channel(f"127.0.0.1:{grpc_address(server)[1]}", grpc.ssl_channel_credentials(root)) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check", raw_bytes, raw_bytes)
        assert check(b"", timeout=60) == b"\x08\x01"


class TestOthers:
    @needs_root
    @pytest.mark.parametrize("request_bytes", UNFINISHED.values(), ids=UNFINISHED.keys())
    def test_another_account_that_leaves_requests_unfinished_shuts_nobody_out(
        self, patient: Server, flood: Callable[..., None], request_bytes: bytes
    ) -> None:
        flood((patient.host, patient.port), request_bytes, NOBODY)
        _assert_owner_is_served(patient)

    @needs_root
    @pytest.mark.parametrize("address", [tls_address, grpc_address], ids=["TLS", "gRPC"])
    def test_nor_one_that_begins_no_handshake(
        self, patient: Server, flood: Callable[..., None], address: Callable[[Server], tuple[str, int]]
    ) -> None:
        flood(address(patient), b"", NOBODY)
        _assert_owner_is_served(patient)

    @needs_root
    def test_it_has_a_share_of_what_is_served_at_once(self, patient: Server) -> None:
        stream = b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %b\r\n\r\n" % patient.token.encode()
        with ExitStack() as stack:
            served = [stack.enter_context(connect((patient.host, patient.port), NOBODY)) for _ in range(100)]
            # All of them ask before the first one is answered: a stream that begins quietly is answered after a while.
            for sock in served:
                sock.sendall(stream)
            for sock in served:
                assert sock.recv(15).startswith(b"HTTP/1.1 200")
            beyond = stack.enter_context(connect((patient.host, patient.port), NOBODY))
            assert b"OVERLOADED" in read_to_end(beyond)
            _assert_owner_is_served(patient)


class TestOwn:
    @pytest.mark.parametrize("kind", ["nothing", "a body", "a stream of MCP", "a WebSocket"])
    def test_a_program_of_the_owners_that_leaves_requests_unfinished_shuts_nobody_out(
        self, patient: Server, flood: Callable[..., None], kind: str
    ) -> None:
        flood((patient.host, patient.port), UNFINISHED[kind], None)
        _assert_owner_is_served(patient)

    def test_what_is_being_served_keeps_its_place(self, patient: Server, flood: Callable[..., None]) -> None:
        events = connect((patient.host, patient.port))
        with events:
            events.sendall(
                b"GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %b\r\n\r\n" % patient.token.encode()
            )
            assert events.recv(15).startswith(b"HTTP/1.1 200")
            flood((patient.host, patient.port), UNFINISHED["a body"], None)
            made = send(
                patient, "POST", CALL, body=b'{"operation": "session.create", "arguments": {}}', headers=owner(patient)
            )
            assert made.status == 200
            answer = b""
            while b"session.opened" not in answer:
                answer += events.recv(65_536)
