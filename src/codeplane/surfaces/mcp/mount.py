"""The mount of MCP, which loads its library for the first client to keep the start fast."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from starlette.types import Receive, Scope, Send

from codeplane.kernel.errors import ShuttingDown

if TYPE_CHECKING:
    from codeplane.surfaces.mcp.server import McpSurface

_STREAM = "codeplane.surfaces.mcp.stream"


class McpMount:
    """The ASGI applications of MCP; run once."""

    def __init__(self, make: "Callable[[], McpSurface]", *, stopping: asyncio.Event) -> None:
        """`make` may import the library when called; once `stopping` is set, nothing waits for it."""
        self._make = make
        self._stopping = stopping
        self._wanted, self._ended = asyncio.Event(), asyncio.Event()
        self._surface: asyncio.Future[McpSurface] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve clients within the context."""
        # One task from its first to its last moment: what it opens can be closed by no other.
        serving = asyncio.ensure_future(self._serve())
        try:
            yield
        finally:
            self._ended.set()
            self._wanted.set()
            await serving

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request to `/mcp`."""
        await (await self._await_surface()).http(scope, receive, send)

    async def stdio(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request to `/mcp/stdio`."""
        surface = await self._await_surface()
        from codeplane.surfaces.mcp.stream import ByteStream

        await ByteStream(surface)(scope, receive, send)

    async def _await_surface(self) -> "McpSurface":
        self._wanted.set()
        if not self._surface.done():
            ending = asyncio.ensure_future(self._stopping.wait())
            try:
                either: set[asyncio.Future[Any]] = {self._surface, ending}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                ending.cancel()
        if not self._surface.done() or self._surface.cancelled():
            raise ShuttingDown("the server is ending")
        return self._surface.result()

    async def _serve(self) -> None:
        await self._wanted.wait()
        if self._ended.is_set():
            self._surface.cancel()
            return
        async with AsyncExitStack() as stack:
            try:
                await asyncio.to_thread(import_module, _STREAM)
                if self._stopping.is_set():
                    self._surface.cancel()
                    return
                surface = self._make()
                await stack.enter_async_context(surface.run())
            except Exception as error:
                # Every waiting call, now or later, gets the error.
                self._surface.set_exception(error)
                return
            # It stays, as all that came up before it; the collector need not look at it again and again.
            gc.freeze()
            self._surface.set_result(surface)
            await self._ended.wait()
