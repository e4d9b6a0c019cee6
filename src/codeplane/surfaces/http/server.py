"""Running the ASGI application: uvicorn on uvloop, with a graceful end."""

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

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
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                app,
                http="httptools",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                headers=[(name, value.decode("latin-1")) for name, value in headers.items()],
                # Calls have had their time in `drain`; what is left are answers on their way out.
                timeout_graceful_shutdown=_LAST_BYTES_SEC,
                timeout_keep_alive=75,
            )
        )
        self._stopping = stopping

    async def run(
        self, listener: socket.socket, *, ready: Callable[[], None], drain: Callable[[], Awaitable[None]]
    ) -> None:
        """Serve until stopped; `drain` runs while connections are still open."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stopping.set)
        serving = asyncio.ensure_future(self._uvicorn.serve(sockets=[listener]))
        waiting = asyncio.ensure_future(self._stopping.wait())
        try:
            listening = asyncio.ensure_future(self._uvicorn.listening.wait())
            await asyncio.wait({serving, listening}, return_when=asyncio.FIRST_COMPLETED)
            if not serving.done():
                ready()
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
            self._stopping.set()
            await drain()
        finally:
            self._uvicorn.should_exit = True
            waiting.cancel()
            await asyncio.wait({serving})
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
        serving.result()
