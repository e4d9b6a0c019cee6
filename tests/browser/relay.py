"""What stands between a browser and the server, and can be cut."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Relay:
    """Passes bytes on, both ways, until it is cut; then it refuses whoever comes, until it is joined again."""

    def __init__(self, port: int) -> None:
        """`port` is the server's, on this machine."""
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Where the server is reached through it."""
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        """End every connection at once."""
        with self._lock:
            self._is_cut = True
            for one in self._open:
                _end(one)
            self._open.clear()

    def join(self) -> None:
        """Let them through again."""
        with self._lock:
            self._is_cut = False

    def close(self) -> None:
        """End it all."""
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                if self._is_cut:
                    _end(near)
                    continue
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(source, target), daemon=True).start()


@contextmanager
def open_relay(port: int) -> Iterator[Relay]:
    """A relay for as long as it is needed."""
    relay = Relay(port)
    try:
        yield relay
    finally:
        relay.close()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _end(source)
    _end(target)


def _end(one: socket.socket) -> None:
    # Shut down first: a thread that waits in `recv` would not notice that it was closed.
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
