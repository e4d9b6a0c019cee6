"""The watchers of the log, which wake when events that they want are appended."""

import asyncio
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from codeplane.kernel.event import Event

Wants = Callable[[Event], bool]


class WatchTimer:
    """Wakes one watcher, and tells when its next heartbeat is due."""

    def __init__(self, heartbeat_sec: float, wants: Wants | None, streams: Collection[str]) -> None:
        self.loop = asyncio.get_running_loop()
        # None: every event, of these streams if there are any.
        self.wants = wants
        self.streams = tuple(streams)
        self._wake = asyncio.Event()
        self._heartbeat_sec = heartbeat_sec
        self._due = self.loop.time() + heartbeat_sec

    def wake(self) -> None:
        """Wake the watcher; on its loop."""
        self._wake.set()

    async def beat(self, *, spoke: bool) -> bool:
        """Wait until woken, or until a heartbeat is due; True when one is due."""
        now = self.loop.time()
        if spoke:
            self._due = now + self._heartbeat_sec
        try:
            async with asyncio.timeout(max(self._due - now, 0)):
                await self._wake.wait()
            self._wake.clear()
        except TimeoutError:
            pass
        if self.loop.time() < self._due:
            return False
        self._due = self.loop.time() + self._heartbeat_sec
        return True


class Watchers:
    """The watchers of one log: those of named streams by these, so that an event asks only its own."""

    def __init__(self) -> None:
        self._timers: set[WatchTimer] = set()
        self._by_stream: dict[str, frozenset[WatchTimer]] = {}
        # Those who look at events of every stream.
        self._of_all: frozenset[WatchTimer] = frozenset()
        # Watchers come and go on several loops; the writer's thread reads sets that are replaced, not changed.
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._timers)

    @contextmanager
    def join(
        self, heartbeat_sec: float, wants: Wants | None = None, *, streams: Collection[str] = ()
    ) -> Iterator[WatchTimer]:
        """A watcher that is woken by the events that it wants: all of these streams, or by a test those of any."""
        timer = WatchTimer(heartbeat_sec, wants, streams)
        with self._lock:
            self._timers.add(timer)
            if not timer.streams:
                self._of_all |= {timer}
            for stream in timer.streams:
                self._by_stream[stream] = self._by_stream.get(stream, frozenset()) | {timer}
        try:
            yield timer
        finally:
            self._discard(timer)

    def _discard(self, timer: WatchTimer) -> None:
        with self._lock:
            self._timers.discard(timer)
            self._of_all -= {timer}
            for stream in timer.streams:
                if left := self._by_stream.get(stream, frozenset()) - {timer}:
                    self._by_stream[stream] = left
                else:
                    self._by_stream.pop(stream, None)

    def wake(self, events: Sequence[Event] | None = None) -> None:
        """Wake the watchers of one of the events, or all; called from the writer's thread."""
        by_loop: dict[asyncio.AbstractEventLoop, set[WatchTimer]] = {}
        for timer in self._find(events):
            by_loop.setdefault(timer.loop, set()).add(timer)
        for loop, timers in by_loop.items():
            try:
                # One message to a loop, however many of its watchers wait.
                loop.call_soon_threadsafe(_wake_all, timers)
            except RuntimeError:
                # The loop is closed, and its watchers ended with it.
                for timer in timers:
                    self._discard(timer)

    def _find(self, events: Sequence[Event] | None) -> Iterator[WatchTimer]:
        if events is None:
            with self._lock:
                yield from tuple(self._timers)
            return
        for stream in {event.stream for event in events}:
            yield from self._by_stream.get(stream, ())
        for timer in self._of_all:
            if timer.wants is None or any(map(timer.wants, events)):
                yield timer


def _wake_all(timers: set[WatchTimer]) -> None:
    for timer in timers:
        timer.wake()
