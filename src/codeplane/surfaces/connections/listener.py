"""Accepting connections: each is admitted before anything is read or any TLS handshake."""

import asyncio
import socket
import ssl
from collections.abc import Callable

from codeplane.surfaces.connections.connections import Connection, Connections

_AT_ONCE = 64
_OUT_OF_FILES_SEC = 0.1

MakeProtocol = Callable[[Connection], asyncio.BaseProtocol]


class Listener:
    """Accepts connections on one socket."""

    def __init__(
        self,
        sock: socket.socket,
        connections: Connections,
        make: MakeProtocol,
        *,
        tls: ssl.SSLContext | None = None,
        handshake_sec: float,
        refusal: bytes = b"",
        has_reserve: bool = False,
    ) -> None:
        """`refusal` is sent to clients without a place; `has_reserve` says whether `make` honours the reserve."""
        self._sock = sock
        self._connections = connections
        self._make = make
        self._tls = tls
        self._handshake_sec = handshake_sec
        self._refusal = refusal
        self._has_reserve = has_reserve
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._resume: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start accepting."""
        self._sock.setblocking(False)
        self._loop.add_reader(self._sock, self._accept)

    def stop(self) -> None:
        """Stop accepting; open connections stay."""
        self._loop.remove_reader(self._sock)
        if self._resume is not None:
            self._resume.cancel()
        for task in self._opening:
            task.cancel()

    def _accept(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                sock, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionError):
                return
            except OSError:
                # Out of files: asking again at once would only burn the processor.
                self._loop.remove_reader(self._sock)
                self._resume = self._loop.call_later(_OUT_OF_FILES_SEC, self.start)
                return
            sock.setblocking(False)
            connection = self._connections.admit(sock, may_use_reserve=self._has_reserve)
            if connection is None:
                self._turn_away(sock)
                continue
            task = self._loop.create_task(self._open(sock, connection))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)

    async def _open(self, sock: socket.socket, connection: Connection) -> None:
        timeout = self._handshake_sec if self._tls is not None else None
        connection.wait_until(self._loop.time() + self._handshake_sec)
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._make(connection), sock, ssl=self._tls, ssl_handshake_timeout=timeout
            )
        except (OSError, ssl.SSLError, asyncio.CancelledError):
            # A handshake that failed or took too long; the loop has closed the socket.
            connection.release()
        except BaseException:
            connection.release()
            raise

    def _turn_away(self, sock: socket.socket) -> None:
        with sock:
            try:
                if self._refusal:
                    # What was sent has to be read: closing with bytes left would reset the connection, answer and all.
                    sock.recv(65_536)
            except OSError:
                pass
            try:
                sock.send(self._refusal)
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                return
