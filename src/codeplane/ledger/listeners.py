"""Those who take in applied events as they are, such as caches of tables; unlike watchers they never fall behind."""

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from codeplane.kernel.event import Event
from codeplane.ledger.recent_events import Committed

Handler: TypeAlias = Callable[[Event], None]
_LOGGER = logging.getLogger(__name__)


class Listeners:
    """Handlers by the types of events they take, each called on the loop that added it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_type: dict[str, tuple[tuple[asyncio.AbstractEventLoop, Handler], ...]] = {}

    def add(self, types: Collection[str], handler: Handler) -> None:
        """Add a handler, to be called on the running loop with what is applied from now on."""
        entry = (asyncio.get_running_loop(), handler)
        with self._lock:
            # Replaced, not changed: the writer's thread reads it.
            self._by_type = {
                **self._by_type,
                **{kind: (*self._by_type.get(kind, ()), entry) for kind in types},
            }

    def deliver(self, committed: Sequence[Committed]) -> None:
        """Hand committed events to the handlers' loops; from the writer's thread, before appends are acknowledged."""
        by_type = self._by_type
        if not by_type:
            return
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Handler, Event]]] = {}
        for event, _ in committed:
            for loop, handler in by_type.get(event.type, ()):
                by_loop.setdefault(loop, []).append((handler, event))
        for loop, calls in by_loop.items():
            try:
                loop.call_soon_threadsafe(_call_all, calls)
            except RuntimeError:
                # The loop is closed, and its caches are gone with it.
                continue


def _call_all(calls: list[tuple[Handler, Event]]) -> None:
    for handler, event in calls:
        try:
            handler(event)
        except Exception:
            # One cache that fails must not keep others, or the caller, from the event.
            _LOGGER.exception("an applied event was not taken in: %s", event.type)
