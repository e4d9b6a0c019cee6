"""What lets workers in while a server lives, and tells when the last of them has left."""

import threading


class Gate:
    """Closed at first; workers wait at it, and leave when their server is gone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open = False
        self._ended = False
        self._inside = 0

    @property
    def is_open(self) -> bool:
        """Whether there is still a server to work with."""
        return self._open

    def enter(self) -> bool:
        """Wait to be let in; False when nobody ever will be again."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self._ended)
            if self._ended:
                return False
            self._inside += 1
            return True

    def leave(self) -> None:
        """A worker has no server any more."""
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    def open(self) -> None:
        """Let everybody in."""
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def close(self, *, sec: float) -> None:
        """Let nobody in, and return when everybody has left."""
        with self._changed:
            self._open = False
            assert self._changed.wait_for(lambda: self._inside == 0, sec), f"{self._inside} workers are stuck"

    def end(self) -> None:
        """Send everybody home."""
        with self._changed:
            self._open, self._ended = False, True
            self._changed.notify_all()
