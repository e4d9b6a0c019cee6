"""Which address the server listens on: loopback, and a port that stays the same for a repository."""

import socket
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path

from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import BindRefused

_FIRST, _COUNT = 41_000, 8_000


def stable_port(root: Path) -> int:
    """A port derived from the repository's path, so that it is the same after a restart."""
    return _FIRST + int.from_bytes(sha256(str(root).encode()).digest()[:4], "big") % _COUNT


def bind(config: ServerConfig, root: Path) -> socket.socket:
    """A listening socket; the stable port's neighbour by the system's choice when it is taken."""
    address = _loopback(config.host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    wanted = [config.port] if config.port else [stable_port(root), 0]
    problem: OSError | None = None
    for port in wanted:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen(1024)
        except OSError as error:
            listener.close()
            problem = error
            continue
        listener.setblocking(False)
        return listener
    raise BindRefused(
        f"cannot listen on {address}:{wanted[0]}: {problem}",
        hint="choose another with --set server.port=N, or 0 for any",
    ) from problem


def _loopback(host: str) -> str:
    address = "127.0.0.1" if host == "localhost" else host
    try:
        if ip_address(address).is_loopback:
            return address
    except ValueError:
        pass
    raise BindRefused(f"server.host is {host!r}, which is not a loopback address")
