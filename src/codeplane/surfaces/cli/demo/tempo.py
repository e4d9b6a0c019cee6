"""The pauses of the demo."""

import time

_WHOLE_SEC = 45.0


class Tempo:
    """Pauses between steps, shortened when the machine is slow."""

    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._until = time.monotonic() + _WHOLE_SEC * pace

    def pause(self, sec: float, *, since: float | None = None) -> float:
        """Return how long to pause now, counted from a moment of the monotonic clock."""
        now = time.monotonic()
        return max(0.0, min((now if since is None else since) + sec * self._pace, self._until) - now)
