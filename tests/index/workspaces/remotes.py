"""Remotes on loopback: one that serves repositories with git's own daemon, and one that never answers."""

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness import git


def bare(source: Path, target: Path) -> Path:
    """A bare copy of a repository, as servers have them."""
    git(source, "clone", "--quiet", "--bare", str(source), str(target))
    return target


@contextmanager
def daemon(base: Path) -> Iterator[str]:
    """The address of a git daemon for all repositories below a folder."""
    command = ["git", "daemon", "--inetd", "--export-all", f"--base-path={base}", str(base)]
    with _listening() as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    line = connection.fileno()
                    subprocess.run(command, stdin=line, stdout=line, stderr=subprocess.DEVNULL, check=False)

        threading.Thread(target=serve, daemon=True).start()
        yield f"git://127.0.0.1:{listener.getsockname()[1]}"


class Silent:
    """A server that takes a connection and says nothing."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.url = f"git://127.0.0.1:{listener.getsockname()[1]}/silent.git"

    def accepted(self) -> socket.socket:
        """The connection of a client that now waits, after it has said what it wants."""
        connection, _ = self._listener.accept()
        connection.settimeout(30)
        assert connection.recv(1000)
        return connection


def ended(connection: socket.socket) -> None:
    """Wait until the other side is gone."""
    while connection.recv(1000):
        pass


@contextmanager
def silent() -> Iterator[Silent]:
    """A server that never answers."""
    with _listening() as listener:
        yield Silent(listener)


@contextmanager
def _listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        yield listener
        listener.shutdown(socket.SHUT_RDWR)
