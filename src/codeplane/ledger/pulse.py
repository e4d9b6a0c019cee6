"""When somebody who watches the log has to look again, or has to say that nothing happened."""

import asyncio


class Pulse:
    """One watcher's wake-up call and its sense of how long it has been silent."""

    def __init__(self, heartbeat_sec: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._heartbeat_sec = heartbeat_sec
        self._due = self._loop.time() + heartbeat_sec

    def wake(self) -> bool:
        """Something was committed; called from the writer's thread. False when the watcher's loop is gone."""
        try:
            self._loop.call_soon_threadsafe(self._wake.set)
        except RuntimeError:
            return False
        return True

    async def beat(self, *, spoke: bool) -> bool:
        """Wait until there is something to look at; True when a heartbeat is due, whatever else goes on."""
        now = self._loop.time()
        if spoke:
            self._due = now + self._heartbeat_sec
        try:
            await asyncio.wait_for(self._wake.wait(), max(self._due - now, 0))
            self._wake.clear()
        except TimeoutError:
            pass
        if self._loop.time() < self._due:
            return False
        self._due = self._loop.time() + self._heartbeat_sec
        return True
