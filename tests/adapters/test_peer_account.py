"""Whose program calls."""

import os
import socket
import subprocess
import sys

import pytest

from codeplane.adapters import peer_account
from codeplane.adapters.peer_account import Address, Lookup, PeerAccounts
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-23")

# Everything is imported before: the other account may not read where Python lies.
CONNECT = """
import os, socket, sys
os.setuid(65534)
one = socket.socket()
one.connect(("127.0.0.1", int(sys.argv[1])))
one.recv(1)
"""


LOOKUPS = [peer_account._ask_kernel, peer_account._read_table]


def is_own_account(lookup: Lookup, client: Address, server: Address) -> bool:
    return PeerAccounts().is_own(client, lookup(client, server))


@requirement("SRV-16")
def test_a_socket_is_asked_about_by_itself_where_the_system_lets_us() -> None:
    assert PeerAccounts()._lookup is peer_account._ask_kernel


@pytest.mark.parametrize("lookup", LOOKUPS)
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.5", "::1"])
def test_a_program_of_this_account_is_ones_own(lookup: Lookup, host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        address = server.getsockname()[:2]
        with socket.create_connection(address) as client:
            accepted, _ = server.accept()
            with accepted:
                assert is_own_account(lookup, client.getsockname()[:2], address)


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_a_client_that_reaches_ipv4_through_ipv6_is_found(lookup: Lookup) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_INET6) as client:
        client.connect(("::ffff:127.0.0.1", server.getsockname()[1]))
        accepted, address = server.accept()
        with accepted:
            assert is_own_account(lookup, address, server.getsockname())


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_a_socket_that_was_closed_is_nobodys_though_the_kernel_calls_it_roots(lookup: Lookup) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, address = server.accept()
        client.close()
        with accepted:
            assert lookup(address, server.getsockname()) is None
            assert not is_own_account(lookup, address, server.getsockname())


def test_another_machine_is_never_ones_own() -> None:
    accounts = PeerAccounts()
    assert accounts.account(("192.0.2.1", 1), ("192.0.2.2", 2)) is None
    assert not accounts.is_own(("192.0.2.1", 1), 0)
    assert not accounts.is_own(("192.0.2.1", 1), None)


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_a_connection_that_nobody_has_is_not(lookup: Lookup) -> None:
    assert not is_own_account(lookup, ("127.0.0.1", 1), ("127.0.0.1", 2))


@pytest.mark.parametrize("lookup", LOOKUPS)
@pytest.mark.skipif(os.getuid() != 0, reason="NOT TESTED: only root can start a program under another account")
def test_a_program_of_another_account_is_not(lookup: Lookup) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        program = subprocess.Popen([sys.executable, "-c", CONNECT, str(server.getsockname()[1])], env={})
        accepted, client = server.accept()
        with accepted:
            assert lookup(client, server.getsockname()) == 65534
            assert not is_own_account(lookup, client, server.getsockname())
        program.wait(timeout=30)
