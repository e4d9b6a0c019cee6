"""Wakes those who wait for a credential to end."""

import asyncio


class Changes:
    """A bell: whoever waits goes on when something was revoked, rotated or dropped."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def tell(self) -> None:
        """Something is no longer good."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, timeout_sec: float) -> None:
        """Return at the next change, or after the time."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait({future}, timeout=timeout_sec)
        finally:
            self._waiting.discard(future)
