"""Whose program calls."""

import os
import socket
import subprocess
import sys

import pytest

from codeplane.adapters.peer_account import is_own_account

# Everything is imported before: the other account may not read where Python lies.
CONNECT = """
import os, socket, sys
os.setuid(65534)
one = socket.socket()
one.connect(("127.0.0.1", int(sys.argv[1])))
one.recv(1)
"""


def test_a_program_of_this_account_is_ones_own() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            assert is_own_account(client.getsockname(), server.getsockname())


def test_a_connection_that_nobody_has_is_not() -> None:
    assert not is_own_account(("127.0.0.1", 1), ("127.0.0.1", 2))


@pytest.mark.skipif(os.getuid() != 0, reason="NOT TESTED: only root can start a program under another account")
def test_a_program_of_another_account_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        program = subprocess.Popen([sys.executable, "-c", CONNECT, str(server.getsockname()[1])], env={})
        accepted, client = server.accept()
        with accepted:
            assert not is_own_account(client, server.getsockname())
        program.wait(timeout=30)
