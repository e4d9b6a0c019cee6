"""Keeps the threads of a busy server on one core, since they wait for each other anyway.

Only one thread of the interpreter runs at a time. On several cores each handing over wakes another core and moves what
the caches hold: the same calls took half as much CPU time again. On one core a thread that is woken would push the
event loop aside whenever that releases the interpreter's lock, even for a stat: so the others wait until it waits.
"""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_TASKS = Path("/proc/self/task")
# The core a thread runs on, counted after its name in its line of status.
_PROCESSOR = 36
_TURN_SEC = 1.0
# Now and then all cores count again: another one may have become free, or the work another.
_TURNS_BOUND = 15
# Of a core: below the one the server is idle, above the other it works on several at once without the interpreter.
_IDLE, _PARALLEL = 0.05, 2.2
# The share of the event loop below which it is something else that takes the time, such as an index that is built.
_LOOP_SHARE = 0.2
# Threads that work for long without the interpreter.
_APART = ("vectors", "parsing")
_CORES = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset[int]()
# A thread of the first kind runs once it is woken, one of the second once the running one waits or has had its time.
_USUAL, _YIELDING = (os.SCHED_OTHER, os.SCHED_BATCH) if hasattr(os, "SCHED_BATCH") else (0, 0)
# The server's starter may have chosen another kind.
_MAY_YIELD = _USUAL != _YIELDING and os.sched_getscheduler(0) == _USUAL


class HomeCore:
    """Binds the threads of this process to one core while it is busy."""

    def __init__(self) -> None:
        self.core: int | None = None
        self._turns = 0
        self._loop_sec, self._all_sec = time.thread_time(), time.process_time()

    async def follow(self) -> None:
        """Look once a second what the process does; run this in the event loop's thread."""
        if len(_CORES) < 2:
            return
        try:
            while True:
                await asyncio.sleep(_TURN_SEC)
                self.turn()
        finally:
            self.release()

    def turn(self) -> None:
        """Bind or release the threads by the CPU time since the last turn."""
        loop_sec, all_sec = time.thread_time(), time.process_time()
        on_loop, in_all = loop_sec - self._loop_sec, all_sec - self._all_sec
        self._loop_sec, self._all_sec = loop_sec, all_sec
        self._turns += 1
        if self.core is not None:
            if in_all < _IDLE * _TURN_SEC or self._turns >= _TURNS_BOUND:
                self.release()
            else:
                # Those that were started meanwhile.
                self._bind_threads(self.core)
        elif _IDLE * _TURN_SEC <= in_all <= _PARALLEL * _TURN_SEC and on_loop >= _LOOP_SHARE * in_all:
            self.bind()

    def bind(self) -> None:
        """Bind all threads that run Python to the core that this one is on."""
        with suppress(OSError, ValueError, IndexError):
            status = (_TASKS / str(threading.get_native_id()) / "stat").read_text()
            core = int(status.rpartition(")")[2].split()[_PROCESSOR])
            if core not in _CORES:
                return
            self.core, self._turns = core, 0
            self._bind_threads(core)

    def _bind_threads(self, core: int) -> None:
        loop = threading.get_native_id()
        for thread in threading.enumerate():
            if thread.native_id is None or thread.name.startswith(_APART):
                continue
            _set_cores(thread.native_id, frozenset({core}))
            if thread.native_id != loop:
                _set_scheduling(thread.native_id, _YIELDING)

    def release(self) -> None:
        """Let every thread run anywhere again, also those that were started meanwhile."""
        self.core, self._turns = None, 0
        with suppress(OSError):
            for name in os.listdir(_TASKS):  # noqa: PTH208
                _set_cores(int(name), _CORES)
                _set_scheduling(int(name), _USUAL)


@contextmanager
def every_core() -> Iterator[None]:
    """Let a child that is started within run on every core and once it is woken; it would inherit what is set here."""
    bound = os.sched_getaffinity(0) if _CORES else _CORES
    if bound == _CORES:
        yield
        return
    yielding = _MAY_YIELD and os.sched_getscheduler(0) == _YIELDING
    _set_cores(0, _CORES)
    if yielding:
        _set_scheduling(0, _USUAL)
    try:
        yield
    finally:
        _set_cores(0, bound)
        if yielding:
            _set_scheduling(0, _YIELDING)


def _set_cores(thread: int, cores: "frozenset[int] | set[int]") -> None:
    # A thread may have ended, or the system may not allow it.
    with suppress(OSError):
        os.sched_setaffinity(thread, cores)


def _set_scheduling(thread: int, kind: int) -> None:
    with suppress(OSError):
        if _MAY_YIELD and {kind, os.sched_getscheduler(thread)} == {_USUAL, _YIELDING}:
            os.sched_setscheduler(thread, kind, os.sched_param(0))
