"""The last committed events in memory, for readers near the end of the log."""

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
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
        # The same by stream, for watchers of one stream.
        self._by_stream: dict[str, deque[Event]] = {}
        self._start = 0
        self._size = 0
        self._last = position

    def add(self, committed: Sequence[Committed]) -> None:
        """Add newly committed events; called by the writer, in the order of the log."""
        with self._lock:
            self._items += committed
            for event, size in committed:
                self._size += size
                if (events := self._by_stream.get(event.stream)) is None:
                    events = self._by_stream[event.stream] = deque()
                events.append(event)
            self._last = committed[-1].event.position
            while len(self._items) - self._start > MAX_EVENTS or self._size > MAX_BYTES:
                self._drop_oldest()
            if self._start > MAX_EVENTS:
                del self._items[: self._start]
                self._start = 0

    def after(self, position: int) -> list[Event] | None:
        """The events after a position; None when some of them are not held."""
        with self._lock:
            if position >= self._last:
                return []
            if not self._holds(position):
                return None
            return [item.event for item in self._items[position - self._last :]]

    def after_in(self, position: int, streams: Iterable[str]) -> tuple[list[Event], int] | None:
        """The events of some streams after a position, and the last position of all; None when some are not held."""
        with self._lock:
            if not self._holds(position):
                return None
            found: list[Event] = []
            for stream in streams:
                newest = len(found)
                for event in reversed(self._by_stream.get(stream, ())):
                    if event.position <= position:
                        break
                    found.append(event)
                found[newest:] = found[newest:][::-1]
            found.sort(key=_position)
            return found, max(position, self._last)

    def _holds(self, position: int) -> bool:
        """Whether every event after a position is held."""
        return self._last - position <= len(self._items) - self._start

    def _drop_oldest(self) -> None:
        event, size = self._items[self._start]
        self._start += 1
        self._size -= size
        events = self._by_stream[event.stream]
        events.popleft()
        if not events:
            del self._by_stream[event.stream]


_position = attrgetter("position")


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
