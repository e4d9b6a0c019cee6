"""Starting a child process, so that whoever is cancelled meanwhile leaves none behind."""

import asyncio
from collections.abc import Awaitable, Callable


async def started(
    starting: Awaitable[asyncio.subprocess.Process], end: Callable[[int], object]
) -> asyncio.subprocess.Process:
    """The process that is being started; `end` is given the pid of one that nobody waits for, and may block."""
    task = asyncio.ensure_future(starting)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Half started, it would be left to itself.
        await asyncio.wait({task})
        if task.exception() is None:
            process = task.result()
            await asyncio.to_thread(end, process.pid)
            await process.wait()
        raise
