"""Leases on a workspace: it closes when its calls have ended, or after a timeout."""

import asyncio
from collections.abc import Awaitable
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

    def around(self, handler: Handler) -> Handler:
        """Wrap a handler: count it while it runs, refuse it once the workspace is closed."""

        async def held(call: Call, request: Request) -> Result:
            if self._closed:
                raise NotFound("the workspace was detached meanwhile", hint="see workspace.list")
            self._running += 1
            self._idle.clear()
            try:
                return await cast(Awaitable[Result], handler(call, request))
            finally:
                self._running -= 1
                if self._running == 0:
                    self._idle.set()

        return held

    async def close(self) -> None:
        """Refuse new calls and wait, bounded, for running ones."""
        self._closed = True
        try:
            await asyncio.wait_for(self._idle.wait(), _PATIENCE_SEC)
        except TimeoutError:
            return
