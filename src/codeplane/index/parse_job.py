"""A running parse of some files, shared by the threads of the pool."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from codeplane.index.parse_worker import Batch, ParseResult

_AHEAD = 8
PAUSE_SEC = 0.2
Work = Callable[["WorkQueue", "queue.Queue[list[ParseResult]]", threading.Event], None]


class WorkQueue:
    """The batches of one job and its threads; all threads but the last may leave early."""

    def __init__(self, most: int) -> None:
        self._changed = threading.Condition()
        self._most = most
        self._threads = 0
        self._more = False
        self._waiting: deque[Batch] = deque()

    def add(self, batches: Iterable[Batch], *, more: bool) -> int:
        """Queue batches, with `more` to come or not; return how many threads to start."""
        with self._changed:
            self._waiting.extend(batches)
            self._more = more
            self._changed.notify_all()
            missing = min(self._most - self._threads, len(self._waiting))
            self._threads += missing
            return missing

    def end(self) -> None:
        """Drop the waiting batches and end."""
        with self._changed:
            self._waiting.clear()
            self._more = False
            self._changed.notify_all()

    def next(self) -> Batch | None:
        """The next batch for a thread, or None when the thread has left."""
        with self._changed:
            while self._more and not self._waiting:
                self._changed.wait()
            if self._waiting:
                return self._waiting.popleft()
            self._threads -= 1
            return None

    def is_alone(self) -> bool:
        """Whether only one thread is left."""
        with self._changed:
            return self._threads < 2

    def may_leave(self) -> bool:
        """Let a thread leave if another stays."""
        with self._changed:
            if self._threads < 2:
                return False
            self._threads -= 1
            self._most -= 1
            return True


class ParseJob:
    """A running parse of some files; iterate for results as they arrive."""

    def __init__(self, most: int, work: "Work", left: Callable[[int], None]) -> None:
        self._work = work
        self._left = left
        self._count = 0
        self._done: queue.Queue[list[ParseResult]] = queue.Queue(maxsize=_AHEAD)
        self._ended = threading.Event()
        self._crew = WorkQueue(most)
        self._threads: list[threading.Thread] = []
        # A single batch, as an edit has, is parsed by its caller: a thread would only be waited for.
        self._here = False

    def add(self, batches: Sequence[Batch], *, more: bool) -> None:
        """Add batches, with `more` to come or not; call before iterating."""
        self._count += len(batches)
        missing = self._crew.add(batches, more=more)
        if self._count == missing == 1 and not more:
            self._here = True
            return
        for _ in range(missing):
            thread = threading.Thread(target=self._work, args=self._arguments(), daemon=True, name="parsing")
            thread.start()
            self._threads.append(thread)

    def _arguments(self) -> "tuple[WorkQueue, queue.Queue[list[ParseResult]], threading.Event]":
        return self._crew, self._done, self._ended

    def __iter__(self) -> Iterator[list[ParseResult]]:
        if self._here:
            self._work(*self._arguments())
        for _ in range(self._count):
            yield self._next()

    def close(self) -> None:
        """Stop the job; results not taken are dropped."""
        self._ended.set()
        self._crew.end()
        for thread in self._threads:
            thread.join()
        self._left(self._count)

    def _next(self) -> list[ParseResult]:
        while True:
            alive = any(thread.is_alive() for thread in self._threads)
            try:
                return self._done.get(timeout=PAUSE_SEC)
            except queue.Empty:
                # Looked at before waiting: one that just ended may have left something.
                if not alive:
                    raise OSError("the processes that parse could not be kept running; restart CodePlane") from None
