"""Bodies without end, and in the smallest of chunks: they are cut off, and those of honest clients are not."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from http.client import HTTPConnection

import pytest

from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.accounts import NOBODY, connect, needs_root, read_to_end
from tests.surfaces.http.wire import CALL, owner, send

pytestmark = requirement("SRV-10")

POST = "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\n{lines}\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n"
AUTHORIZED = "Authorization: Bearer {token}\r\n"
TINY = b"1\r\nx\r\n" * 10_000
BIG = b"10000\r\n%b\r\n" % (b"x" * 65_536)
# What is read after the answer, and what the buffers of both sockets hold at most.
ENOUGH = 64 * 1024 * 1024
CALL_STATUS = b'{"operation":"status","arguments":{}}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("bodies") / "repo"))
    yield running
    running.stop()


def _head(path: str, lines: str, kind: str = "application/json") -> bytes:
    return POST.format(path=path, kind=kind, lines=lines).encode()


def _pour(server: Server, head: bytes, piece: bytes, account: int | None) -> tuple[bytes, int]:
    """The answer to a body that does not end, and how much of it was taken."""
    with connect((server.host, server.port), account) as sock:
        sent = 0
        try:
            sock.sendall(head)
            while sent < ENOUGH:
                sent += sock.send(piece)
        except ConnectionError:
            pass
        return read_to_end(sock), sent


class TestEndless:
    @requirement("SRV-13")
    @pytest.mark.parametrize(
        ("path", "lines", "status"),
        [
            ("/mcp", CHUNKED, b"413"),
            (CALL, f"{AUTHORIZED}{CHUNKED}", b"413"),
            (CALL, CHUNKED, b"401"),
            (CALL, f"Authorization: Bearer wrong\r\n{CHUNKED}", b"401"),
            ("/health", CHUNKED, b"405"),
            ("/nothing", CHUNKED, b"404"),
            (CALL, "Content-Length: 3000000000\r\n", b"413"),
            ("/nothing", "Content-Length: 3000000000\r\n", b"413"),
        ],
    )
    def test_a_connection_ends_soon_after_its_answer(
        self, server: Server, path: str, lines: str, status: bytes
    ) -> None:
        answer, sent = _pour(server, _head(path, lines.format(token=server.token)), BIG, None)
        assert answer.split()[1:2] == [status], answer[:200]
        assert sent < ENOUGH

    @requirement("SRV-13")
    @needs_root
    @pytest.mark.parametrize("piece", [BIG, TINY], ids=["big", "tiny"])
    def test_so_does_one_of_another_account(self, server: Server, piece: bytes) -> None:
        answer, sent = _pour(server, _head("/mcp", CHUNKED), piece, NOBODY)
        assert answer.split()[1:2] == [b"401"], answer[:200]
        assert sent < ENOUGH

    @requirement("SRV-13")
    @needs_root
    def test_many_of_another_account_shut_nobody_out(self, server: Server) -> None:
        over = threading.Event()

        def flood(sock: socket.socket) -> None:
            with suppress(OSError):
                while not over.is_set():
                    sock.sendall(TINY)

        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(20))
            stack.callback(over.set)
            for _ in range(20):
                sock = stack.enter_context(connect((server.host, server.port), NOBODY))
                sock.sendall(_head("/mcp", CHUNKED))
                pool.submit(flood, sock)
            assert send(server, path="/health").status == 200
            assert cpl("status", cwd=server.repo).returncode == 0


class TestUnread:
    """Over Connect whoever has no right to call is refused by the head, whatever its body would say."""

    @pytest.mark.parametrize("length", ["Content-Length: 2000000\r\n", CHUNKED])
    @pytest.mark.parametrize("kind", ["application/json", "application/proto", "application/grpc-web+proto"])
    def test_a_false_token_is_refused_before_the_body(self, server: Server, kind: str, length: str) -> None:
        for lines in ("Authorization: Bearer wrong\r\n", AUTHORIZED.format(token=server.token) * 2):
            with connect((server.host, server.port)) as sock:
                sock.sendall(_head(CALL, f"{lines}{length}", kind))
                assert _said(sock, b"UNAUTHORIZED" if kind != "application/grpc-web+proto" else b"grpc-status: 16")

    @pytest.mark.parametrize("method", ["OperationService/Stream", "EventsService/Watch", "DevicesService/ListDevices"])
    def test_so_is_a_missing_one(self, server: Server, method: str) -> None:
        kind = "application/json" if method.startswith("Devices") else "application/connect+json"
        with connect((server.host, server.port)) as sock:
            sock.sendall(_head(f"/codeplane.v1.{method}", "Content-Length: 2000000\r\n", kind))
            assert _said(sock, b"UNAUTHORIZED")

    @pytest.mark.parametrize("lines", ["", "Authorization: Basic eDp5\r\n"])
    def test_without_one_there_is_room_for_a_pairing_code(self, server: Server, lines: str) -> None:
        body = b'{"operation":"pairing.bind","arguments":{"code":"ABCD-EFGH","device_name":"phone"}}'
        for size, word in ((1000, b"PAIRING_REFUSED"), (20_000, b"UNAUTHORIZED")):
            with connect((server.host, server.port)) as sock:
                sock.sendall(_head(CALL, f"{lines}Content-Length: {2_000_000 if size > 1000 else size}\r\n"))
                sock.sendall(body.ljust(size))
                assert _said(sock, word)

    def test_the_body_of_who_has_one_is_awaited(self, server: Server) -> None:
        with connect((server.host, server.port)) as sock:
            lines = f"{AUTHORIZED.format(token=server.token)}Content-Length: {len(CALL_STATUS)}\r\n"
            sock.sendall(_head(CALL, lines) + CALL_STATUS[:5])
            assert send(server, path="/health").status == 200
            sock.sendall(CALL_STATUS[5:])
            assert _said(sock, b"HTTP/1.1 200")


def _said(sock: socket.socket, word: bytes) -> bool:
    """Whether an answer with that in it comes, before anything more is sent."""
    answer = b""
    while word not in answer:
        data = sock.recv(65_536)
        if not data:
            return False
        answer += data
    return True


class TestTime:
    @requirement("SRV-13")
    def test_a_body_has_so_much_time_whatever_has_come_of_it(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        repo = make_repo(tmp_path_factory.mktemp("late") / "repo")
        server = start(repo, overrides=["server.body_timeout_sec=0.1"])
        try:
            with connect((server.host, server.port)) as stalled:
                lines = f"{AUTHORIZED.format(token=server.token)}Content-Length: 2000000\r\n"
                stalled.sendall(_head(CALL, lines) + b" " * 1_000_000)
                assert read_to_end(stalled).split()[1:2] == [b"408"]
        finally:
            server.stop()


class TestChunks:
    def _call(self, server: Server, *, size: int, chunk: int) -> bytes:
        body = CALL_STATUS.ljust(size)
        lines = f"Authorization: Bearer {server.token}\r\nConnection: close\r\n{CHUNKED}"
        pieces = [body[at : at + chunk] for at in range(0, size, chunk)]
        framed = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
        with connect((server.host, server.port)) as sock:
            sock.sendall(_head(CALL, lines) + framed + b"0\r\n\r\n")
            return read_to_end(sock)

    def test_too_many_small_ones_are_refused(self, server: Server) -> None:
        answer = self._call(server, size=100_000, chunk=1)
        assert answer.startswith(b"HTTP/1.1 400")
        assert b"chunks of the body are too small" in answer

    def test_so_are_long_extensions(self, server: Server) -> None:
        chunk = b"1;%b\r\n \r\n" % (b"x" * 1000)
        with connect((server.host, server.port)) as sock:
            sock.sendall(_head(CALL, AUTHORIZED.format(token=server.token) + CHUNKED) + chunk * 100)
            assert b"chunks of the body are too small" in read_to_end(sock)

    @pytest.mark.parametrize(("size", "chunk"), [(40, 1), (10_000, 1), (200_000, 40), (4_000_000, 1000)])
    def test_those_of_honest_clients_are_taken(self, server: Server, size: int, chunk: int) -> None:
        assert self._call(server, size=size, chunk=chunk).startswith(b"HTTP/1.1 200")

    def test_a_stream_of_mcp_may_send_as_many_as_it_likes(self, server: Server) -> None:
        ping = b" " * 100_000 + b'{"jsonrpc":"2.0","id":7,"method":"ping"}\n'
        with connect((server.host, server.port)) as stream:
            stream.sendall(_head("/mcp/stdio", CHUNKED, "application/x-ndjson"))
            stream.sendall(b"".join(b"1\r\n%c\r\n" % byte for byte in ping))
            answer = b""
            while b'"id":7' not in answer:
                data = stream.recv(65_536)
                assert data, answer
                answer += data


class TestHonest:
    @pytest.mark.parametrize(("path", "size", "status"), [(CALL, 6_000_000, 413), ("/nothing", 4_000_000, 404)])
    def test_whoever_sends_all_before_reading_sees_why_it_was_refused(
        self, server: Server, path: str, size: int, status: int
    ) -> None:
        assert send(server, "POST", path, body=b" " * size).status == status

    def test_a_refused_request_whose_body_ends_leaves_the_connection_to_the_next(self, server: Server) -> None:
        connection = HTTPConnection(server.host, server.port, timeout=60)
        statuses = []
        for path in ("/nothing", CALL, "/nothing", CALL):
            connection.request("POST", path, body=CALL_STATUS.ljust(5000), headers=owner(server))
            sock = connection.sock
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
            assert connection.sock is sock
        connection.close()
        assert statuses == [404, 200, 404, 200]

    def test_a_large_file_is_written(self, server: Server) -> None:
        text = "a line of text\n" * 250_000
        assert "result" in server.call("write_files", edits=[{"path": "large.txt", "content": text}])
        assert (server.repo / "large.txt").read_text() == text
