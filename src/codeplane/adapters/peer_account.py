"""The account at the other end of a local TCP connection."""

import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED = 1
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST = 1
_MESSAGE_HEAD = struct.Struct("=IHHII")
# inet_diag_req_v2 up to the addresses: family, protocol, extensions, padding, states, source and destination port.
_QUERY = struct.Struct("=BBBBI2s2s")
_ANY_INTERFACE = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
# inet_diag_msg: family, state, timer and retransmissions, then 48 bytes of addresses, three numbers and the account.
_ANSWER = struct.Struct("=BBBB48xIIII")

Address = tuple[str, int]
Lookup = Callable[[Address, Address], int | None]


class PeerAccounts:
    """Looks up the account of a connected program; None when the system does not say.

    Only sockets in the state ESTABLISHED count: the kernel reports one that its program has closed as root's.
    """

    def __init__(self) -> None:
        self._lookup = _first_working_lookup()

    @property
    def is_known(self) -> bool:
        """Whether this system can look up accounts."""
        return self._lookup is not None

    def account(self, client: Address, server: Address) -> int | None:
        """Return the user id of the client's program, for a local connection."""
        if self._lookup is None or not (client[0] == server[0] or _is_loopback(client[0])):
            return None
        return self._lookup(client, server)

    def is_own(self, client: Address, account: int | None) -> bool:
        """Return whether the program belongs to this account or to root; False if unknown.

        Where the system cannot tell, everyone on loopback counts as the owner's.
        """
        if not _is_loopback(client[0]):
            return False
        return account in (os.getuid(), 0) if self.is_known else True


def _first_working_lookup() -> Lookup | None:
    """Return the first lookup that works here, or None; a sandbox may allow neither."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        for lookup in (_ask_kernel, _read_table):
            if lookup(client.getsockname(), listener.getsockname()) == os.getuid():
                return lookup
    # A table that does not list our own connection cannot be trusted.
    return _read_table if _TABLES[0].exists() else None


def _ask_kernel(client: Address, server: Address) -> int | None:
    """Ask the kernel about one socket; the cost does not grow with the number of connections."""
    try:
        query = _query(client, server)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.settimeout(1)
            head = _MESSAGE_HEAD.pack(_MESSAGE_HEAD.size + len(query), _SOCK_DIAG_BY_FAMILY, _REQUEST, 1, 0)
            kernel.send(head + query)
            answer, (sender, _) = kernel.recvfrom(4096)
    except (OSError, AttributeError):
        return None
    if sender != 0 or len(answer) < _MESSAGE_HEAD.size + _ANSWER.size:
        return None
    _, kind, *_ = _MESSAGE_HEAD.unpack_from(answer)
    if kind != _SOCK_DIAG_BY_FAMILY:
        return None
    _, state, _, _, _, _, _, account = _ANSWER.unpack_from(answer, _MESSAGE_HEAD.size)
    return int(account) if state == _ESTABLISHED else None


def _query(client: Address, server: Address) -> bytes:
    family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
    source, destination = (socket.inet_pton(family, host).ljust(16, b"\0") for host in (client[0], server[0]))
    ports = client[1].to_bytes(2, "big"), server[1].to_bytes(2, "big")
    head = _QUERY.pack(family, socket.IPPROTO_TCP, 0, 0, 1 << _ESTABLISHED, *ports)
    return head + source + destination + _ANY_INTERFACE


def _read_table(client: Address, server: Address) -> int | None:
    """Read the account from /proc/net/tcp, for systems without socket queries."""
    wanted = [f"{_as_in_table(host)}:{port:04X}" for host, port in (client, server)]
    for table in _TABLES:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            # A client may have connected through IPv6 to an IPv4 address.
            if words[1].endswith(wanted[0]) and words[2].endswith(wanted[1]) and int(words[3], 16) == _ESTABLISHED:
                return int(words[7])
    return None


def _as_in_table(host: str) -> str:
    """Return an address as /proc/net/tcp writes it: 32-bit words in native byte order."""
    packed = socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host)
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(packed) // 4}I", packed))


def _is_loopback(host: str) -> bool:
    return host == "::1" or host.startswith(("127.", "::ffff:127."))
