"""A process whose output is read as far as it is wanted, and that has ended when nobody reads it any more."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from codeplane.processes.child import PIPE, Child


@asynccontextmanager
async def piped(command: Sequence[str | bytes], *, cwd: Path, env: Mapping[str, str]) -> AsyncIterator[Child]:
    """Run a command that is given no input; it has ended when the block is left, however that comes about."""
    # In a group of its own: filters and whatever else git starts end with it.
    running = Child(command, cwd=cwd, env=env, stdout=PIPE, stderr=PIPE)
    try:
        yield running
    finally:
        if running.returncode is None:
            running.end()
        # Its end does not wait for what nobody reads any more.
        running.close()
        await running.wait()
