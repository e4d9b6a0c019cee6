"""Stops a stage when the call's time is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from codeplane.kernel.call import Operation
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import DeadlineExceeded
from codeplane.kernel.stages.progress import Received


@asynccontextmanager
async def stopped_at(received: Received, at: float | None, clock: Clock) -> AsyncIterator[None]:
    """Raise DeadlineExceeded when the block is not done by then; a TimeoutError of its own passes through."""
    limit = asyncio.timeout_at(at)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        spent = (clock.monotonic_ns() - received.started_ns) / 1e9
        raise DeadlineExceeded(f"{received.name} was stopped after {spent:.1f} s") from error


def time_allowed(received: Received, operation: Operation) -> float | None:
    """When a handler that starts now has to be done: the operation's own limit or the caller's, the earlier one."""
    now, own = asyncio.get_running_loop().time(), operation.mark.timeout_sec
    return min((at for at in (now + own if own else None, received.deadline) if at is not None), default=None)
