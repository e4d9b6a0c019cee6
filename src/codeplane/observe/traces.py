"""The traces of the last calls: a bounded number of them, in memory, gone with the server."""

import heapq
import threading
from collections import deque
from collections.abc import Callable
from itertools import count

from codeplane.kernel.trace import Trace
from codeplane.observe.trace_view import brief

KEPT = 1000
SLOWEST = 5
MAX_OPERATIONS = 200
OWN_SURFACE = "web"
_OWN_KEPT = 100

Listener = Callable[[Trace], None]


class Traces:
    """Keeps the most recent calls, and of each operation the slowest, which a flood of quick ones cannot push out."""

    def __init__(self, *, kept: int = KEPT, listeners: tuple[Listener, ...] = ()) -> None:
        """`listeners` are told of every trace, kept or not: metrics and export."""
        self._recent: deque[tuple[int, Trace]] = deque(maxlen=max(kept, 1))
        # What the dashboard asks to draw itself must not push out what it is there to show.
        self._own: deque[tuple[int, Trace]] = deque(maxlen=_OWN_KEPT)
        self._slowest: dict[str, list[tuple[int, int, Trace]]] = {}
        self._numbers = count(1)
        self._listeners = listeners
        self._lock = threading.Lock()

    def finished(self, trace: Trace) -> None:
        """Keep a trace of a call that has ended."""
        arguments = trace.facts.get("arguments")
        if isinstance(arguments, dict):
            # A thousand whole files that were written would be kept otherwise.
            trace.facts["arguments"] = brief(arguments)
        number = next(self._numbers)
        with self._lock:
            if trace.facts.get("surface") == OWN_SURFACE:
                self._own.append((number, trace))
            else:
                self._recent.append((number, trace))
                self._remember(number, trace)
        for listener in self._listeners:
            listener(trace)

    def all(self) -> list[tuple[int, Trace]]:
        """Everything that is kept, numbered in the order in which the calls ended; the newest first."""
        with self._lock:
            found = dict((*self._recent, *self._own))
            for slow in self._slowest.values():
                found.update((number, trace) for _, number, trace in slow)
        return sorted(found.items(), key=lambda one: -one[0])

    def find(self, call_or_trace: str) -> list[Trace]:
        """The traces of a call id or a trace id, in the order in which they began; several calls can share a trace."""
        found = [
            trace
            for _, trace in self.all()
            if trace.trace_id == call_or_trace or trace.facts.get("call_id") == call_or_trace
        ]
        return sorted(found, key=lambda trace: trace.started_ns)

    def _remember(self, number: int, trace: Trace) -> None:
        slow = self._slowest.get(trace.name)
        if slow is None:
            if len(self._slowest) >= MAX_OPERATIONS:
                return
            slow = self._slowest[trace.name] = []
        entry = (trace.duration_ns, number, trace)
        if len(slow) < SLOWEST:
            heapq.heappush(slow, entry)
        elif entry[0] > slow[0][0]:
            heapq.heapreplace(slow, entry)
