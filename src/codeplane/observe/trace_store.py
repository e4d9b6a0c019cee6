"""The traces of recent calls: a bounded number, kept in memory."""

import heapq
import threading
from collections import deque
from collections.abc import Callable
from itertools import count

from codeplane.kernel.trace import Trace
from codeplane.observe.trace_view import brief

KEPT = 1000
SLOWEST = 5
MAX_OPERATIONS = 400
OWN_SURFACE = "web"
_OWN_KEPT = 100

Listener = Callable[[Trace], None]


class TraceStore:
    """Keeps the most recent calls, and the slowest of each operation, which a flood of quick ones cannot push out."""

    def __init__(self, *, kept: int = KEPT, listeners: tuple[Listener, ...] = ()) -> None:
        """`listeners` receive every trace, kept or not: metrics and export."""
        self._recent: deque[tuple[int, Trace]] = deque(maxlen=max(kept, 1))
        # The dashboard's own calls must not push out what it is there to show.
        self._own: deque[tuple[int, Trace]] = deque(maxlen=_OWN_KEPT)
        self._slowest: dict[str, list[tuple[int, int, Trace]]] = {}
        self._numbers = count(1)
        self._listeners = listeners
        self._lock = threading.Lock()

    def end_trace(self, trace: Trace) -> None:
        """Keep a trace of a call that has ended."""
        arguments = trace.facts.get("arguments")
        if isinstance(arguments, dict):
            # Otherwise whole files in arguments would be kept.
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
        """All kept traces, numbered in the order in which the calls ended, newest first."""
        with self._lock:
            traces = dict((*self._recent, *self._own))
            for slow in self._slowest.values():
                traces.update((number, trace) for _, number, trace in slow)
        return sorted(traces.items(), key=lambda numbered: -numbered[0])

    def find(self, call_or_trace: str) -> list[Trace]:
        """The traces of a call id or a trace id, in the order of their start; several calls can share a trace."""
        traces = [
            trace
            for _, trace in self.all()
            if trace.trace_id == call_or_trace or trace.facts.get("call_id") == call_or_trace
        ]
        return sorted(traces, key=lambda trace: trace.started_ns)

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
