"""Wakes tasks that wait for a credential to end."""

import asyncio


class ChangeSignal:
    """Wakes all waiters when a credential was revoked, rotated or dropped."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    def notify(self) -> None:
        """Wake all waiters."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, timeout_sec: float) -> None:
        """Return at the next change, or after the timeout."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait({future}, timeout=timeout_sec)
        finally:
            self._waiting.discard(future)
