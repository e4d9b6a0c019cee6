"""Time as a port: integers inside, fixed-width RFC 3339 outside."""

import time
from datetime import UTC, datetime
from typing import Protocol

SECOND_NS = 1_000_000_000


class Clock(Protocol):
    """A source of time."""

    def now_ns(self) -> int:
        """Wall-clock time in nanoseconds since 1970; may jump either way, so nothing is ordered by it."""
        ...

    def monotonic_ns(self) -> int:
        """A reading that only grows, for durations, deadlines and budgets."""
        ...


class SystemClock:
    """The machine's own clocks."""

    # The functions themselves: each call of an operation reads the time forty times.
    now_ns = staticmethod(time.time_ns)
    monotonic_ns = staticmethod(time.monotonic_ns)


def rfc3339(at_ns: int) -> str:
    """The time as RFC 3339 in UTC with nine fractional digits, always of the same width."""
    seconds, fraction = divmod(at_ns, SECOND_NS)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{fraction:09d}Z"
