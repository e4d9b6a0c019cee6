"""Whose program is at the other end of a connection on this machine."""

import os
from pathlib import Path

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_ESTABLISHED = "01"
_LOOPBACK = frozenset(
    {
        "00000000000000000000000001000000",
        # IPv4 written as IPv6.
        "0000000000000000FFFF00000100007F",
    }
)


def is_own_account(client: tuple[str, int], server: tuple[str, int]) -> bool:
    """Whether the client's program belongs to this process's account, or to root; in doubt it does not.

    Where the system does not tell, as without /proc, everyone on loopback counts as the owner's.
    """
    if not _TABLES[0].exists():
        return True
    return _account(client[1], server[1]) in (os.getuid(), 0)


def _account(client_port: int, server_port: int) -> int | None:
    for table in _TABLES:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            words = line.split()
            local, remote = words[1].split(":"), words[2].split(":")
            ports = int(local[1], 16), int(remote[1], 16)
            if ports == (client_port, server_port) and words[3] == _ESTABLISHED and _is_loopback(local[0]):
                return int(words[7])
    return None


def _is_loopback(address: str) -> bool:
    """The table writes IPv4 backwards: 127.0.0.1 is 0100007F."""
    return address in _LOOPBACK or (len(address) == 8 and address.endswith("7F"))
