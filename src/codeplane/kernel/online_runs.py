"""Runs of git whose hooks or filters have the network, and waiting until there are none."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_LOOK_SEC = 0.02
_CURRENT: ContextVar[object | None] = ContextVar("online run", default=None)


class OnlineRuns:
    """Tracks the runs under way; threads and tasks may start and end them.

    A run counts before it is decided whether it has the network: forbid the network first, then wait, and none is
    missed.
    """

    def __init__(self) -> None:
        self._runs: set[object] = set()
        self._lock = threading.Lock()

    @contextmanager
    def run(self) -> Iterator[None]:
        """Track a run, from before its settings are made to its end."""
        run = object()
        with self._lock:
            self._runs.add(run)
        token = _CURRENT.set(run)
        try:
            yield
        finally:
            _CURRENT.reset(token)
            self._end(run)

    def dismiss(self) -> None:
        """Report that the current run starts nothing with network access."""
        if (run := _CURRENT.get()) is not None:
            self._end(run)

    async def wait_for_end(self, seconds: float) -> bool:
        """Wait for the runs under way; return whether all of them ended in time."""
        with self._lock:
            runs = set(self._runs)
        # Polled, since a thread for each waiting call would leave none for others.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._are_running(runs):  # noqa: ASYNC110  # threads end them too
                    await asyncio.sleep(_LOOK_SEC)
        return not self._are_running(runs)

    def _are_running(self, runs: set[object]) -> bool:
        with self._lock:
            return not runs.isdisjoint(self._runs)

    def _end(self, run: object) -> None:
        with self._lock:
            self._runs.discard(run)
