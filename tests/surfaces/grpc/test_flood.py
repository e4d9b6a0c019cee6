"""Clients that send frames without end and take no answer: they do not keep the server from ending."""

import json
import struct
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.accounts import connect

pytestmark = requirement("SRV-13")

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING = 4, 6
# Enough to fill the buffers of both sockets with answers.
ENOUGH = 64 * 1024 * 1024


def _frame(kind: int, payload: bytes = b"") -> bytes:
    """A frame of HTTP/2 that belongs to no stream."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, 0]) + struct.pack(">I", 0) + payload


FLOODS = {"settings": _frame(SETTINGS) * 500, "pings": _frame(PING, b"12345678") * 500}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("grpc") / "repo"))
    yield running
    running.kill()


def _flood(stack: ExitStack, server: Server, frames: bytes) -> None:
    """Four clients that send until nothing more is taken, and stay until the stack is closed."""
    address = server.host, json.loads(server.workspace.server.read_text())["grpc_port"]
    for _ in range(4):
        sock = stack.enter_context(connect(address))
        sock.settimeout(1)
        sent = 0
        with suppress(OSError):
            sock.sendall(PREFACE + _frame(SETTINGS))
            while sent < ENOUGH:
                sent += sock.send(frames)


def _sockets(server: Server) -> int:
    """How many sockets the server has open."""
    found = 0
    for file in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found += str(file.readlink()).startswith("socket:")
    return found


@pytest.mark.parametrize("frames", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "there"])
def test_the_server_ends_after_a_flood_that_nobody_reads(server: Server, frames: bytes, is_gone: bool) -> None:
    with ExitStack() as stack:
        _flood(stack, server, frames)
        if is_gone:
            stack.close()
        assert server.stop() == 0


@pytest.mark.parametrize("frames", FLOODS.values(), ids=FLOODS)
def test_nothing_stays_open_of_clients_that_have_gone(server: Server, frames: bytes) -> None:
    before = _sockets(server)
    with ExitStack() as stack:
        _flood(stack, server, frames)
        assert _sockets(server) >= before + 4
    until(lambda: _sockets(server) <= before)
