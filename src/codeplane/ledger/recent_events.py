"""The last committed events in memory, for readers near the end of the log."""

import threading
from collections.abc import Sequence
from typing import NamedTuple

from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventQuery

MAX_EVENTS = 4096
MAX_BYTES = 4 * 1024 * 1024


class Committed(NamedTuple):
    """A committed event, and how many characters its payload has."""

    event: Event
    size: int


class RecentEvents:
    """Holds the last events in the order of their positions, bounded in number and size."""

    def __init__(self, position: int) -> None:
        """`position` is the last one of the log: what came before it is not here."""
        self._lock = threading.Lock()
        self._items: list[Committed] = []
        self._start = 0
        self._size = 0
        self._last = position

    def add(self, committed: Sequence[Committed]) -> None:
        """Add newly committed events; called by the writer, in the order of the log."""
        with self._lock:
            self._items += committed
            self._size += sum(item.size for item in committed)
            self._last = committed[-1].event.position
            while len(self._items) - self._start > MAX_EVENTS or self._size > MAX_BYTES:
                self._size -= self._items[self._start].size
                self._start += 1
            if self._start > MAX_EVENTS:
                del self._items[: self._start]
                self._start = 0

    def after(self, position: int) -> list[Event] | None:
        """The events after a position; None when some of them are not held."""
        with self._lock:
            if position >= self._last:
                return []
            count = self._last - position
            if count > len(self._items) - self._start:
                return None
            return [item.event for item in self._items[-count:]]


def is_plain(query: EventQuery) -> bool:
    """Whether `matches` decides about an event as a query of the log does."""
    return not (query.conditions or query.words or query.quiet or query.scope) and query.until is None


def matches(query: EventQuery, event: Event) -> bool:
    """Whether an event is one that a plain query wants."""
    ids = event.correlation
    return (
        (not query.types or event.type in query.types)
        and _is_named(query.stream, event.stream)
        and _is_named(query.actor, event.actor)
        and (query.task_id is None or ids.task_id == query.task_id)
        and (query.session_id is None or ids.session_id == query.session_id)
        and (query.call_id is None or ids.call_id == query.call_id)
        and (query.work_id is None or ids.work_id == query.work_id)
    )


def _is_named(wanted: str | None, name: str) -> bool:
    if wanted is None:
        return True
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted
