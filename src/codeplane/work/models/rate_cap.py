"""How many calls a minute a provider is sent."""

import asyncio
from collections import deque

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import RateLimited

_WINDOW_NS = 60 * SECOND_NS


class RateCap:
    """Lets so many calls through in any minute; further ones wait for their turn."""

    def __init__(self, per_minute: int, *, clock: Clock) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._starts: deque[int] = deque()

    async def take(self, provider: str, *, max_wait_sec: float) -> None:
        """Count one call, waiting for a place; RateLimited when that would take too long."""
        if not self._per_minute:
            return
        deadline_ns = self._clock.monotonic_ns() + int(max_wait_sec * SECOND_NS)
        while True:
            now_ns = self._clock.monotonic_ns()
            while self._starts and self._starts[0] <= now_ns - _WINDOW_NS:
                self._starts.popleft()
            if len(self._starts) < self._per_minute:
                self._starts.append(now_ns)
                return
            free_ns = self._starts[0] + _WINDOW_NS
            if free_ns > deadline_ns:
                wait_sec = round((free_ns - now_ns) / SECOND_NS, 1)
                raise RateLimited(
                    f"{provider} is sent at most {self._per_minute} calls a minute",
                    hint=f"call again in {wait_sec:g} s, or the owner raises calls_per_minute of {provider}",
                    details={"provider": provider, "retry_after_sec": wait_sec},
                )
            await asyncio.sleep((free_ns - now_ns) / SECOND_NS)
