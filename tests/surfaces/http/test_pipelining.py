"""Requests sent one behind the other on one connection: answered in order, and few of them held at once."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.accounts import NOBODY, connect, exchange, needs_root, read_to_end
from tests.surfaces.http.wire import CALL

pytestmark = requirement("SRV-10")

GET = b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LAST = b"GET /last HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
POST = b"POST %b HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
BODY = b'{"operation": "status",\r\n\r\n "arguments": {}}'
MIXED = (
    GET % b"/health"
    + POST % CALL.encode()
    + b"Content-Length: %d\r\n\r\n" % len(BODY)
    + BODY
    + GET % b"/nothing"
    + b"\r\n\r\n"
    + POST % CALL.encode()
    + b"Transfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n%x\r\n" % len(BODY)
    + BODY
    + b"\r\n0\r\n\r\n"
    + GET % b"/health"
    + LAST
)
IN_ORDER = [b"200", b"401", b"404", b"401", b"200", b"404"]
BURST = (GET % b"/health") * 6000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("pipelining") / "repo"))
    yield running
    running.stop()


def _statuses(answers: bytes) -> list[bytes]:
    return re.findall(rb"HTTP/1\.1 (\d{3})", answers)


def test_a_small_answer_comes_in_one_piece(server: Server) -> None:
    with socket.create_connection((server.host, server.port), timeout=30) as connection:
        for path in (b"/health", b"/nothing") * 5:
            connection.sendall(GET % path)
            head, _, body = connection.recv(65_536).partition(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            assert length is not None and len(body) == int(length[1]) > 0


def test_an_answer_without_a_body_is_sent_before_the_next_one(server: Server) -> None:
    with socket.create_connection((server.host, server.port), timeout=30) as connection:
        connection.sendall((GET % b"/health").replace(b"GET", b"HEAD") * 3 + b"no request\r\n\r\n")
        assert _statuses(read_to_end(connection)) == [b"200", b"200", b"200", b"400"]


def _peak_kb(server: Server) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1])


class TestHonest:
    @pytest.mark.parametrize("account", [None, pytest.param(NOBODY, marks=needs_root)], ids=["own", "other"])
    def test_requests_behind_each_other_are_answered_in_order(self, server: Server, account: int | None) -> None:
        assert _statuses(exchange((server.host, server.port), MIXED, account)) == IN_ORDER

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 40, 100])
    def test_wherever_the_bytes_are_split(self, server: Server, size: int) -> None:
        with connect((server.host, server.port)) as sock:
            for at in range(0, len(MIXED), size):
                sock.sendall(MIXED[at : at + size])
            assert _statuses(read_to_end(sock)) == IN_ORDER

    @requirement("SRV-13")
    def test_many_are_answered_for_whoever_reads(self, server: Server) -> None:
        answers = exchange((server.host, server.port), (GET % b"/health") * 500 + LAST)
        assert _statuses(answers) == [b"200"] * 500 + [b"404"]

    def test_a_request_for_another_protocol_is_the_last(self, server: Server) -> None:
        upgrade = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        assert _statuses(exchange((server.host, server.port), upgrade + (GET % b"/health") * 3)) == [b"200"]

    def test_a_head_that_is_too_long_is_refused_behind_others(self, server: Server) -> None:
        endless = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 300_000
        answers = exchange((server.host, server.port), GET % b"/health" + endless)
        assert _statuses(answers) == [b"200", b"431"]


@requirement("SRV-13")
@needs_root
def test_a_burst_of_another_account_is_not_queued(server: Server) -> None:
    before = _peak_kb(server)
    with ExitStack() as stack:
        for _ in range(64):
            sock = stack.enter_context(connect((server.host, server.port), NOBODY))
            sock.setblocking(False)
            sock.send(BURST)
        assert cpl("status", cwd=server.repo).returncode == 0
        assert "result" in server.call("status")
        assert _peak_kb(server) - before < 100_000
