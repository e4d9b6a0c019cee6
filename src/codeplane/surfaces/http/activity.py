"""Request activity, by which a detached server decides to end when idle."""

from collections.abc import Callable


class Activity:
    """The time of the last request and the number in progress."""

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        self._monotonic_ns = monotonic_ns
        self._open = 0
        self._last_ns = monotonic_ns()

    def start(self) -> None:
        """Start counting idle time."""
        self._last_ns = self._monotonic_ns()

    def begin(self) -> None:
        """Count a started request."""
        self._open += 1

    def end(self) -> None:
        """Count an ended request."""
        self._open -= 1
        self._last_ns = self._monotonic_ns()

    @property
    def open(self) -> int:
        """The number of requests in progress."""
        return self._open

    def idle_sec(self) -> float:
        """Return the seconds since the last request; 0 while one is in progress."""
        return 0.0 if self._open else (self._monotonic_ns() - self._last_ns) / 1e9
