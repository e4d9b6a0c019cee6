"""Who waits for new events of the log, and wakes when some come that they want."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from codeplane.kernel.event import Event

Wants = Callable[[Event], bool]


class WatchTimer:
    """Wakes one watcher, and tells when its next heartbeat is due."""

    def __init__(self, heartbeat_sec: float, wants: Wants) -> None:
        self.loop = asyncio.get_running_loop()
        self.wants = wants
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
    """The watchers of one log."""

    def __init__(self) -> None:
        self._timers: set[WatchTimer] = set()

    def __len__(self) -> int:
        return len(self._timers)

    @contextmanager
    def join(self, heartbeat_sec: float, wants: Wants) -> Iterator[WatchTimer]:
        """A watcher that is woken by the events it wants."""
        timer = WatchTimer(heartbeat_sec, wants)
        self._timers.add(timer)
        try:
            yield timer
        finally:
            self._timers.discard(timer)

    def wake(self, events: Iterable[Event] | None = None) -> None:
        """Wake those who want one of the events, or everybody; from the writer's thread."""
        by_loop: dict[asyncio.AbstractEventLoop, list[WatchTimer]] = {}
        for timer in tuple(self._timers):
            if events is None or any(map(timer.wants, events)):
                by_loop.setdefault(timer.loop, []).append(timer)
        for loop, timers in by_loop.items():
            try:
                # One message to a loop, however many of its watchers wait.
                loop.call_soon_threadsafe(_wake_all, timers)
            except RuntimeError:
                # The loop is closed, and its watchers ended with it.
                self._timers.difference_update(timers)


def _wake_all(timers: list[WatchTimer]) -> None:
    for timer in timers:
        timer.wake()
