"""What runs longer than one answer takes ends when its caller is no longer let in."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import TypeVar

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.ports import Identity

T = TypeVar("T")


class Welcome:
    """Watches over one caller's right to go on."""

    def __init__(self, ended: "asyncio.Task[CodePlaneError] | None") -> None:
        self._ended = ended

    async def during(self, step: Coroutine[object, object, T]) -> T:
        """The step's outcome, or the reason why the caller is not welcome any more, whichever is first."""
        if self._ended is None:
            return await step
        if self._ended.done():
            # Also when there is always something ready to be given.
            step.close()
            raise self._ended.result()
        running = asyncio.ensure_future(step)
        try:
            await asyncio.wait({running, self._ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait({running})
        if running.cancelled():
            raise self._ended.result()
        return running.result()


@asynccontextmanager
async def welcome(identity: Identity, caller: Caller) -> AsyncIterator[Welcome]:
    """Only tokens end before their time; whoever has none is let go on."""
    if caller.token is None:
        yield Welcome(None)
        return
    ended = asyncio.ensure_future(identity.ended(caller))
    try:
        yield Welcome(ended)
    finally:
        ended.cancel()
