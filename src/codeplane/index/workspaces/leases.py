"""Who is being answered by a workspace: it is closed only when nobody is, or when that takes too long."""

import asyncio
from collections.abc import Awaitable
from typing import cast

from codeplane.kernel.call import Call
from codeplane.kernel.errors import NotFound
from codeplane.kernel.operation import Handler, Request, Result

_PATIENCE_SEC = 10.0


class Leases:
    """Counts the calls under way in one workspace."""

    def __init__(self) -> None:
        self._running = 0
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    def around(self, handler: Handler) -> Handler:
        """The handler, counted while it runs and refused when the workspace is closed."""

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
        """Take no new calls, and wait for those under way; bounded, since a caller may wait for ever."""
        self._closed = True
        try:
            await asyncio.wait_for(self._idle.wait(), _PATIENCE_SEC)
        except TimeoutError:
            return
