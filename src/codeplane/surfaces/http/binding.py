"""The addresses the server listens on: loopback, and with TLS one for other machines."""

import socket
from hashlib import sha256
from pathlib import Path

from codeplane.kernel.binding import address, is_loopback, may_bind
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import BindRefused

_FIRST, _COUNT = 41_000, 8_000


def stable_port(root: Path) -> int:
    """Return a port derived from the repository's path, stable across restarts."""
    return _FIRST + _place(root)


def stable_tls_port(root: Path) -> int:
    """Return the port for TLS, from a separate range."""
    return _FIRST + _COUNT + _place(root)


def _place(root: Path) -> int:
    return int.from_bytes(sha256(str(root).encode()).digest()[:4], "big") % _COUNT


def bind(config: ServerConfig, root: Path) -> socket.socket:
    """Bind a loopback socket to the stable port, or to the next free one."""
    may_bind(config)
    host = address(config.host) if is_loopback(config.host) else "127.0.0.1"
    return _listener(host, [config.port] if config.port else [stable_port(root), 0], "server.port")


def bind_tls(config: ServerConfig, root: Path) -> socket.socket:
    """Bind the TLS socket that other machines can reach, to its own stable port."""
    may_bind(config)
    wanted = [config.tls_port] if config.tls_port else [stable_tls_port(root), 0]
    return _listener(address(config.host), wanted, "server.tls_port")


def _listener(host: str, wanted: list[int], setting: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    problem: OSError | None = None
    for port in wanted:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(1024)
        except OSError as error:
            listener.close()
            problem = error
            continue
        listener.setblocking(False)
        return listener
    raise BindRefused(
        f"cannot listen on {host}:{wanted[0]}: {problem}",
        hint=f"choose another with --set {setting}=N, or 0 for any",
    ) from problem
