"""Stops a stage when the call's time is over."""

import asyncio
from types import TracebackType

from codeplane.kernel.call import Operation
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import DeadlineExceeded
from codeplane.kernel.stages.progress import Received


class Deadline:
    """Raises DeadlineExceeded when a block is not done by then; a TimeoutError of its own passes through."""

    __slots__ = ("_clock", "_limit", "_received")

    def __init__(self, received: Received, at: float | None, clock: Clock) -> None:
        self._received = received
        self._clock = clock
        self._limit = asyncio.timeout_at(at) if at is not None else None

    async def __aenter__(self) -> None:
        if self._limit is not None:
            await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._limit is None:
            return
        try:
            await self._limit.__aexit__(kind, error, traceback)
            if isinstance(error, TimeoutError):
                raise error
        except TimeoutError as timeout:
            if not self._limit.expired():
                raise
            spent = (self._clock.monotonic_ns() - self._received.started_ns) / 1e9
            raise DeadlineExceeded(f"{self._received.name} was stopped after {spent:.1f} s") from timeout


def time_allowed(received: Received, operation: Operation) -> float | None:
    """When a handler that starts now has to be done: the operation's own limit or the caller's, the earlier one."""
    now, own = asyncio.get_running_loop().time(), operation.mark.timeout_sec
    return min((at for at in (now + own if own else None, received.deadline) if at is not None), default=None)
