"""Ends what runs longer than one answer when its caller's token is revoked."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import TypeVar

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.ports import Identity

T = TypeVar("T")


class Admission:
    """One caller's right to go on."""

    def __init__(self, revoked: "asyncio.Task[CodePlaneError] | None") -> None:
        self._revoked = revoked

    async def during(self, step: Coroutine[object, object, T]) -> T:
        """Return the step's result, or raise why the caller was turned away, whichever comes first."""
        if self._revoked is None:
            return await step
        if self._revoked.done():
            # Checked first: a step that is always ready would never let the revocation through.
            step.close()
            raise self._revoked.result()
        running = asyncio.ensure_future(step)
        try:
            await asyncio.wait({running, self._revoked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not running.done():
                running.cancel()
                await asyncio.wait({running})
        if running.cancelled():
            raise self._revoked.result()
        return running.result()


@asynccontextmanager
async def until_revoked(identity: Identity, caller: Caller) -> AsyncIterator[Admission]:
    """Watch the caller's token while the block runs; a caller without one has nothing to revoke."""
    if caller.token is None:
        yield Admission(None)
        return
    revoked = asyncio.ensure_future(identity.wait_for_end(caller))
    try:
        yield Admission(revoked)
    finally:
        revoked.cancel()
