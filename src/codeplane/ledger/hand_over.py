"""Runs a function on an event loop for another thread, which waits for it."""

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
# How long a loop may be busy with other things before the writer does its work itself.
PATIENCE_SEC = 0.02


class HandOver(Generic[T]):
    """A function that runs once, in one of two threads: the loop's, or the thread that waits for it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._claim = threading.Lock()
        # Held until it has run.
        self._running = threading.Lock()
        self._running.acquire()
        self._results: list[T] = []
        self._error: BaseException | None = None

    def run_on_loop(self) -> None:
        """Run it here, unless the other thread has taken it back."""
        if not self._claim.acquire(blocking=False):
            return
        try:
            self._results.append(self._function())
        except Exception as error:
            self._error = error
        except BaseException:
            self._error = RuntimeError("the event loop was interrupted")
            raise
        finally:
            self._running.release()

    def wait(self, patience_sec: float) -> T:
        """What it returned or raised; run here when the loop has not come to it in time."""
        if not self._running.acquire(timeout=patience_sec):
            if self._claim.acquire(blocking=False):
                return self._function()
            self._running.acquire()
        if self._error is not None:
            raise self._error
        return self._results[0]


def run_on_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], T]) -> T:
    """Run a function on a loop and wait for it, from another thread; here when the loop is busy, stopped or closed."""
    handed_over = HandOver(function)
    try:
        loop.call_soon_threadsafe(handed_over.run_on_loop)
    except RuntimeError:
        return function()
    return handed_over.wait(PATIENCE_SEC)
