"""Runs of git whose hooks or filters have the network, for whoever has to wait until there are none."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CURRENT: ContextVar[object | None] = ContextVar("online run", default=None)


class OnlineRuns:
    """Knows which runs are under way; threads and tasks may begin and end them.

    A run counts before it is decided whether it has the network: who forbids the network first, and waits then, misses
    none.
    """

    def __init__(self) -> None:
        self._runs: set[object] = set()
        self._changed = threading.Condition()

    @contextmanager
    def run(self) -> Iterator[None]:
        """A run, from before its settings are made to its end."""
        run = object()
        with self._changed:
            self._runs.add(run)
        token = _CURRENT.set(run)
        try:
            yield
        finally:
            _CURRENT.reset(token)
            self._end(run)

    def dismiss(self) -> None:
        """The run that this is called in starts nothing that has the network."""
        if (run := _CURRENT.get()) is not None:
            self._end(run)

    async def ended(self, seconds: float) -> bool:
        """Wait for those that are under way now; whether all of them ended in time."""
        with self._changed:
            runs = set(self._runs)
        return not runs or await asyncio.to_thread(self._wait, runs, seconds)

    def _wait(self, runs: set[object], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: runs.isdisjoint(self._runs), seconds)

    def _end(self, run: object) -> None:
        with self._changed:
            self._runs.discard(run)
            self._changed.notify_all()
