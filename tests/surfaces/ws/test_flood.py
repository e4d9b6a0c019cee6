"""Frames without end, and ones that are none: the connection ends, and nobody else waits for it."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.accounts import NOBODY, connect, needs_root, read_to_end
from tests.surfaces.http.wire import send

UPGRADE = (
    b"GET /ws/events HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n%b"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
CONTINUATION, TEXT, PING = 0, 1, 9
# What the buffers of both sockets hold at most.
ENOUGH = 64 * 1024 * 1024


def _frame(kind: int, data: bytes = b"", *, is_last: bool = True) -> bytes:
    """A frame as clients send them, of at most 125 bytes."""
    return bytes([is_last << 7 | kind, 0x80 | len(data)]) + b"\0\0\0\0" + data


FLOODS = {
    "continuations": (_frame(TEXT, b"a", is_last=False), _frame(CONTINUATION, is_last=False) * 2000),
    "messages": (b"", _frame(TEXT) * 2000),
    "pings": (b"", _frame(PING, b"x" * 120) * 500),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("frames") / "repo"))
    yield running
    running.stop()


def _opened(server: Server, account: int | None = None, headers: bytes = b"") -> socket.socket:
    """A WebSocket."""
    sock = connect((server.host, server.port), account)
    sock.sendall(UPGRADE % headers)
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += sock.recv(1)
    assert head.startswith(b"HTTP/1.1 101"), head
    return sock


def _close_code(output: bytes) -> int:
    """The code of the close frame at the end of what the server said."""
    frame = output[output.rindex(b"\x88") :]
    return int.from_bytes(frame[2:4])


class TestTooMany:
    @requirement("SRV-13")
    @pytest.mark.parametrize("kind", FLOODS)
    @pytest.mark.parametrize("account", [None, pytest.param(NOBODY, marks=needs_root)], ids=["own", "other"])
    def test_the_connection_ends(self, server: Server, kind: str, account: int | None) -> None:
        first, piece = FLOODS[kind]
        with _opened(server, account) as sock:
            sent = 0
            with suppress(ConnectionError):
                sock.sendall(first)
                while sent < ENOUGH:
                    sent += sock.send(piece)
        assert sent < ENOUGH

    @requirement("SRV-13")
    @pytest.mark.parametrize("kind", [CONTINUATION, PING], ids=["continuations", "pings"])
    def test_it_is_told_why(self, server: Server, kind: int) -> None:
        first = _frame(TEXT, b"{", is_last=False) if kind == CONTINUATION else b""
        with _opened(server) as sock:
            sock.sendall(first + _frame(kind, is_last=kind != CONTINUATION) * 60)
            assert _close_code(read_to_end(sock)) == 1008

    @requirement("SRV-13")
    def test_so_is_one_that_has_shown_its_token(self, server: Server) -> None:
        with _opened(server, headers=b"Authorization: Bearer %b\r\n" % server.token.encode()) as sock:
            sock.sendall(_frame(PING) * 60)
            assert _close_code(read_to_end(sock)) == 1008

    @requirement("SRV-13")
    def test_frames_before_the_answer_count_too(self, server: Server) -> None:
        with connect((server.host, server.port)) as sock:
            sent = 0
            with suppress(ConnectionError):
                sock.sendall(UPGRADE % b"")
                while sent < ENOUGH:
                    sent += sock.send(_frame(PING) * 2000)
        assert sent < ENOUGH

    @requirement("SRV-13")
    @pytest.mark.parametrize("kind", FLOODS)
    def test_others_are_answered_meanwhile(self, server: Server, kind: str) -> None:
        over = threading.Event()
        first, piece = FLOODS[kind]

        def flood() -> None:
            while not over.is_set():
                with suppress(OSError), connect((server.host, server.port)) as sock:
                    sock.sendall(UPGRADE % b"")
                    sock.recv(1)
                    sock.sendall(first)
                    while not over.is_set():
                        sock.sendall(piece)

        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(3))
            stack.callback(over.set)
            for _ in range(3):
                pool.submit(flood)
            for _ in range(3):
                assert send(server, path="/health").status == 200
            assert cpl("status", cwd=server.repo).returncode == 0


class TestHonest:
    @requirement("SRV-13")
    def test_a_hello_in_pieces_between_pings_is_heard(self, server: Server) -> None:
        hello = b'{"token": "%b", "after": 0}' % server.token.encode()
        server.call("session.create", description="x")
        with _opened(server) as sock:
            middle = len(hello) // 2
            sock.sendall(_frame(TEXT, hello[:middle], is_last=False) + _frame(PING, b"1"))
            sock.sendall(_frame(CONTINUATION, hello[middle:]))
            output = b""
            while b'"position"' not in output:
                output += sock.recv(65_536)
        assert output.startswith(b"\x8a\x011")

    @requirement("SRV-10")
    def test_a_first_message_that_is_too_long_is_refused(self, server: Server) -> None:
        with _opened(server) as sock:
            sock.sendall(bytes([0x81, 0xFF]) + (20_000).to_bytes(8) + b"\0\0\0\0")
            assert _close_code(read_to_end(sock)) == 1009


@requirement("SRV-10")
def test_text_that_is_none_ends_the_connection_without_an_error_in_the_log(server: Server) -> None:
    with _opened(server) as sock:
        sock.sendall(_frame(TEXT, b"\xff\xfe"))
        assert _close_code(read_to_end(sock)) == 1007
    log = server.workspace.log.read_text()
    assert "UTF-8" not in log
    assert "Traceback" not in log


@requirement("SRV-10")
def test_a_head_that_only_http_takes_is_refused(server: Server) -> None:
    with connect((server.host, server.port)) as sock:
        sock.sendall(UPGRADE % (b"X-Long: %b\r\n" % (b"x" * 9000)))
        assert read_to_end(sock).startswith(b"HTTP/1.1 400")
