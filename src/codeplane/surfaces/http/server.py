"""The HTTP server: uvicorn on uvloop, with a graceful shutdown."""

import asyncio
import math
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import Overloaded
from codeplane.surfaces.connections.connections import Connection, Connections
from codeplane.surfaces.connections.listener import Listener
from codeplane.surfaces.http.protocol import KEEP_ALIVE_SEC, BoundedProtocol, refusal
from codeplane.surfaces.http.websocket_protocol import MAX_MESSAGE_BYTES, BoundedWebSocket

_LAST_BYTES_SEC, _MOST_LAST_BYTES_SEC = 1, 3


class _Uvicorn(uvicorn.Server):
    """uvicorn without signal handling, with a callback when it listens, and with limited connections."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        own_headers: list[tuple[bytes, bytes]],
        connections: Connections,
        bounds: ServerConfig,
        tls: ssl.SSLContext | None,
    ) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self._own_headers = own_headers
        self._places = connections
        self._bounds = bounds
        self._tls = tls
        self._listeners: list[Listener] = []

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        refused = refusal(Overloaded("all connections are taken"), self.server_state.default_headers)
        for sock in sockets or []:
            listener = Listener(
                sock,
                self._places,
                self._protocol,
                tls=self._tls,
                handshake_sec=self._bounds.header_timeout_sec,
                refusal=refused if self._tls is None else b"",
                has_reserve=True,
            )
            listener.start()
            self._listeners.append(listener)
        self.listening.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in self._listeners:
            listener.stop()
        await super().shutdown(sockets)

    def _protocol(self, connection: Connection) -> BoundedProtocol:
        state = self.lifespan.state
        return BoundedProtocol(
            self.config,
            self.server_state,
            state,
            connection=connection,
            bounds=self._bounds,
            own_headers=self._own_headers,
        )


class HttpServer:
    """Runs uvicorn until a signal or the application stops it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        stopping: asyncio.Event,
        headers: Mapping[str, bytes],
        own_headers: Mapping[str, bytes],
        connections: Connections,
        bounds: ServerConfig,
    ) -> None:
        """`headers` are on every answer, also on uvicorn's own; `own_headers` on those to the
        owner's account alone."""
        self._own_headers = [(name.encode(), value) for name, value in own_headers.items()]
        self._connections = connections
        self._bounds = bounds
        self._app = app
        self._headers = [(name, value.decode("latin-1")) for name, value in headers.items()]
        self._stopping = stopping

    def _server(self, tls: ssl.SSLContext | None) -> _Uvicorn:
        return _Uvicorn(
            uvicorn.Config(
                self._app,
                ws=BoundedWebSocket,
                ws_max_size=MAX_MESSAGE_BYTES,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                headers=self._headers,
                timeout_keep_alive=KEEP_ALIVE_SEC,
            ),
            own_headers=self._own_headers,
            connections=self._connections,
            bounds=self._bounds,
            tls=tls,
        )

    async def run(
        self,
        listener: socket.socket,
        *,
        ready: Callable[[], None],
        drain: Callable[[], Awaitable[None]],
        secure: tuple[socket.socket, ssl.SSLContext] | None = None,
    ) -> None:
        """Serve until stopped, on a second socket with TLS where one is given; `drain` runs before connections end."""
        servers = [(self._server(None), listener)]
        if secure is not None:
            servers.append((self._server(secure[1]), secure[0]))
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stopping.set)
        serving = asyncio.ensure_future(_all(server.serve(sockets=[bound]) for server, bound in servers))
        waiting = asyncio.ensure_future(self._stopping.wait())
        all_listen = _all(server.listening.wait() for server, _ in servers)
        listening = asyncio.ensure_future(all_listen)
        sweeping = asyncio.ensure_future(self._connections.sweep())
        last_sec = _LAST_BYTES_SEC
        try:
            await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                ready()
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            self._stopping.set()
            ends_sec = loop.time() + self._bounds.shutdown_timeout_sec
            await drain()
            # What is left are answers on their way out, which take a while on a busy machine, and requests half sent.
            last_sec = max(_LAST_BYTES_SEC, min(_MOST_LAST_BYTES_SEC, math.ceil(ends_sec - loop.time())))
        finally:
            for server, _ in servers:
                server.config.timeout_graceful_shutdown = last_sec
                server.should_exit = True
            waiting.cancel()
            listening.cancel()
            sweeping.cancel()
            await asyncio.wait({serving})
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
        serving.result()


async def _all(steps: Iterable[Coroutine[object, object, object]]) -> None:
    await asyncio.gather(*steps)
