"""Running the ASGI application: uvicorn on uvloop, with a graceful end."""

import asyncio
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from codeplane.surfaces.http.target import AddressedProtocol

_LAST_BYTES_SEC = 1


class _Uvicorn(uvicorn.Server):
    """uvicorn without its own signal handling, and with a word when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


class HttpServer:
    """uvicorn, told when to end by a signal or by the application itself."""

    def __init__(self, app: ASGIApp, *, stopping: asyncio.Event, headers: Mapping[str, bytes]) -> None:
        """`headers` are on every answer, also on those that uvicorn gives by itself."""
        self._app = app
        self._headers = [(name, value.decode("latin-1")) for name, value in headers.items()]
        self._stopping = stopping

    def _server(self, tls: ssl.SSLContext | None) -> _Uvicorn:
        return _Uvicorn(
            uvicorn.Config(
                self._app,
                http=AddressedProtocol,
                ws="websockets-sansio",
                ws_max_size=65_536,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                headers=self._headers,
                # Calls have had their time in `drain`; what is left are answers on their way out.
                timeout_graceful_shutdown=_LAST_BYTES_SEC,
                timeout_keep_alive=75,
                ssl_context_factory=(lambda config, default: tls) if tls is not None else None,
            )
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
        serving = asyncio.ensure_future(_all(one.serve(sockets=[bound]) for one, bound in servers))
        waiting = asyncio.ensure_future(self._stopping.wait())
        all_listen = _all(one.listening.wait() for one, _ in servers)
        listening = asyncio.ensure_future(all_listen)
        try:
            await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                ready()
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            self._stopping.set()
            await drain()
        finally:
            for one, _ in servers:
                one.should_exit = True
            waiting.cancel()
            listening.cancel()
            await asyncio.wait({serving})
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
        serving.result()


async def _all(steps: Iterable[Coroutine[object, object, object]]) -> None:
    await asyncio.gather(*steps)
