"""Limits on how long a child process may work."""

import time

# A child that gets no CPU time is given up after so many times its limit of CPU time.
_STARVED = 20
_CPU_CLOCK = 2


class CpuDeadline:
    """A limit on a child's CPU time, so that a busy machine is not taken for a child that hangs.

    Where the CPU time of another process is unknown, the limit is one of wall time.
    """

    def __init__(self, pid: int, limit_sec: float) -> None:
        self._pid = pid
        self._limit_sec = limit_sec
        self._cpu_before = _cpu_sec(pid)
        self.longest_sec = limit_sec * (_STARVED if self._cpu_before is not None else 1)
        self._end = time.monotonic() + self.longest_sec

    def is_used_up(self) -> bool:
        """Whether the child took all its CPU time."""
        if self._cpu_before is None:
            return self.is_over(time.monotonic())
        now = _cpu_sec(self._pid)
        return now is not None and now - self._cpu_before > self._limit_sec

    def is_over(self, now: float) -> bool:
        """Whether so much wall time passed, by the monotonic clock, that waiting longer is in vain."""
        return now > self._end


def _cpu_sec(pid: int) -> float | None:
    """The CPU time of a process and its threads; None where the system does not say."""
    try:
        # The number of a process's clock, as `clock_getcpuclockid` of the C library makes it on Linux.
        return time.clock_gettime(~pid << 3 | _CPU_CLOCK)
    except (OSError, OverflowError):
        return None
