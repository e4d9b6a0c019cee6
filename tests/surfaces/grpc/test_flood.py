"""Clients that send frames without end and take no answer: they do not keep the server from ending."""

import json
import struct
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from tests.harness import Server, make_repo, start
from tests.surfaces.accounts import connect

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING = 4, 6
# Enough to fill the buffers of both sockets with answers.
ENOUGH = 64 * 1024 * 1024


def _frame(kind: int, payload: bytes = b"") -> bytes:
    """A frame of HTTP/2 that belongs to no stream."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, 0]) + struct.pack(">I", 0) + payload


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("grpc") / "repo"))
    yield running
    running.kill()


@pytest.mark.parametrize("frames", [_frame(SETTINGS) * 500, _frame(PING, b"12345678") * 500], ids=["settings", "pings"])
@pytest.mark.parametrize("is_gone", [True, False], ids=["gone", "there"])
def test_the_server_ends_after_a_flood_that_nobody_reads(server: Server, frames: bytes, is_gone: bool) -> None:
    address = server.host, json.loads(server.workspace.server.read_text())["grpc_port"]
    with ExitStack() as stack:
        for _ in range(4):
            sock = stack.enter_context(connect(address))
            sock.settimeout(1)
            sent = 0
            with suppress(OSError):
                sock.sendall(PREFACE + _frame(SETTINGS))
                while sent < ENOUGH:
                    sent += sock.send(frames)
        if is_gone:
            stack.close()
        assert server.stop() == 0
