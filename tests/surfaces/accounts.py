"""Connections of this account and of another one, as bytes."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

NOBODY = 65534
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="NOT TESTED: only root can act as another account")


@contextmanager
def acting_as(account: int | None) -> Iterator[None]:
    """Sockets made in the block belong to the account; None is one's own."""
    if account is None:
        yield
        return
    os.seteuid(account)
    try:
        yield
    finally:
        os.seteuid(os.getuid())


def connect(address: tuple[str, int], account: int | None = None) -> socket.socket:
    """A connection of an account."""
    with acting_as(account):
        sock = socket.socket()
    sock.settimeout(60)
    sock.connect(address)
    return sock


def read_to_end(sock: socket.socket) -> bytes:
    """Everything that comes until the server closes the connection."""
    found = b""
    try:
        while data := sock.recv(65_536):
            found += data
    except ConnectionError:
        pass
    return found


def exchange(address: tuple[str, int], request: bytes, account: int | None = None) -> bytes:
    """What comes for a request until the server closes the connection."""
    with connect(address, account) as sock:
        sock.sendall(request)
        return read_to_end(sock)
