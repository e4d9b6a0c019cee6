"""Leases on a workspace: it closes when its calls have ended, or after a timeout."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from contextlib import aclosing, contextmanager
from typing import cast

from codeplane.kernel.call import Call, Handler
from codeplane.kernel.errors import NotFound
from codeplane.kernel.operation import Request, Result

_PATIENCE_SEC = 10.0


class Leases:
    """Counts the calls under way in one workspace."""

    def __init__(self) -> None:
        self._running = 0
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def is_idle(self) -> bool:
        """Whether no call is under way."""
        return self._running == 0

    def around(self, handler: Handler) -> Handler:
        """Wrap a handler: count it while it runs, refuse it once the workspace is closed."""

        async def hold_call(call: Call, request: Request) -> Result:
            with self._hold():
                return await cast(Awaitable[Result], handler(call, request))

        async def hold_stream(call: Call, request: Request) -> AsyncIterator[Result]:
            with self._hold():
                async with aclosing(cast(AsyncGenerator[Result, None], handler(call, request))) as items:
                    async for item in items:
                        yield item

        return hold_stream if inspect.isasyncgenfunction(handler) else hold_call

    @contextmanager
    def _hold(self) -> Iterator[None]:
        if self._closed:
            raise NotFound("the workspace was detached meanwhile", hint="see workspace.list")
        self._running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._running -= 1
            if self._running == 0:
                self._idle.set()

    async def close(self) -> None:
        """Refuse new calls and wait, bounded, for running ones."""
        self._closed = True
        try:
            async with asyncio.timeout(_PATIENCE_SEC):
                await self._idle.wait()
        except TimeoutError:
            return
