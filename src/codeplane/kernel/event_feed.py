"""Keeps a cache in step with the log: loaded from a table once, then fed by the events that are applied."""

from collections.abc import Awaitable, Callable, Collection

from codeplane.kernel.event import Event
from codeplane.kernel.event_log import EventLog


class EventFeed:
    """Feeds one cache; no cache takes in what its own node is about to write, since it may be decided otherwise."""

    def __init__(self, types: Collection[str], apply: Callable[[Event], None]) -> None:
        """`apply` takes in one event; taking in events again that are in the table already changes nothing."""
        self._types = frozenset(types)
        self._apply = apply
        self._log: EventLog | None = None
        # Events that come while the table is read, to be taken in after it.
        self._held: list[Event] | None = None

    async def load(self, log: EventLog, load: Callable[[], Awaitable[None]]) -> None:
        """Load the cache, and keep it in step from now on."""
        self._held = []
        if self._log is not log:
            log.listen(self._types, self._take)
            self._log = log
        try:
            await load()
        finally:
            held, self._held = self._held or [], None
            for event in held:
                self._apply(event)

    def _take(self, event: Event) -> None:
        if self._held is not None:
            self._held.append(event)
        else:
            self._apply(event)
