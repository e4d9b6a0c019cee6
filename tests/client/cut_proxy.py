"""A proxy on loopback that cuts connections after so many bytes of the answer."""

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.harness import Server


@dataclass
class CutProxy:
    """`allowance` says for each connection, counted from 0, how many bytes of the answer get through.

    `holds` keeps requests: nothing gets through in either direction, and nothing is cut.
    """

    target: tuple[str, int]
    allowance: Callable[[int], int]
    port: int = 0
    connections: int = 0
    holds: threading.Event = field(default_factory=threading.Event)
    # Set when a request came.
    arrived: threading.Event = field(default_factory=threading.Event)
    # Set when a client has ended its connection.
    dropped: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_allowance(self) -> int:
        """Count a connection and return what it may bring."""
        with self._lock:
            self.connections += 1
            return self.allowance(self.connections - 1)


class _Handler(socketserver.BaseRequestHandler):
    server: "_Listener"

    def handle(self) -> None:
        proxy = self.server.proxy
        left = proxy.next_allowance()
        with suppress(OSError), socket.create_connection(proxy.target) as upstream:
            requests = threading.Thread(target=self._forward_request, args=(upstream,), daemon=True)
            requests.start()
            if proxy.holds.is_set():
                requests.join()
            while left > 0 and (data := upstream.recv(65536)):
                self.request.sendall(data[:left])
                left -= len(data)
            with suppress(OSError):
                self.request.shutdown(socket.SHUT_RDWR)
            requests.join()

    def _forward_request(self, upstream: socket.socket) -> None:
        with suppress(OSError):
            while data := self.request.recv(65536):
                self.server.proxy.arrived.set()
                if not self.server.proxy.holds.is_set():
                    upstream.sendall(data)
            self.server.proxy.dropped.set()
            upstream.shutdown(socket.SHUT_RDWR)


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    proxy: CutProxy


@contextmanager
def cut_proxy(server: Server, allowance: Callable[[int], int]) -> Iterator[CutProxy]:
    """Serve a proxy to a server until the end of the block."""
    proxy = CutProxy((server.host, server.port), allowance)
    with _Listener(("127.0.0.1", 0), _Handler) as listener:
        listener.proxy = proxy
        proxy.port = listener.server_address[1]
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            listener.shutdown()
            thread.join()
