"""`server.trend`: memory, queue, lag and running calls of the last hour, kept in memory."""

from collections import deque
from collections.abc import Callable

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.operation import Request, Result, Risk, operation

STEP_SEC = 5
_MAX_MOMENTS = 720

Reading = Callable[[], float]


class TrendRequest(Request):
    """The period, and the number of points."""

    minutes: int = Field(60, ge=1, le=60)
    points: int = Field(60, ge=2, le=_MAX_MOMENTS, description="of those that share a point the highest counts")


class Moment(Result):
    """The readings of one time; `at` is in seconds since 1970."""

    at: int
    memory_mb: float
    queue: float = Field(description="events that wait for the ledger's writer")
    lag: float = Field(description="events that the slowest reader has not been given yet")
    running: float = Field(description="calls under way")


class Trend(Result):
    """Readings, oldest first, since the server's start at most."""

    step_sec: int = STEP_SEC
    moments: tuple[Moment, ...]

    def text(self) -> str:
        if not self.moments:
            return "[nothing was read yet]"
        last = self.moments[-1]
        return (
            f"{last.memory_mb:.0f} MB, {last.queue:.0f} queued, lag {last.lag:.0f}, {last.running:.0f} running;"
            f" {len(self.moments)} readings"
        )


class Gauges:
    """Takes readings at intervals, and keeps the last hour."""

    def __init__(self, *, clock: Clock, memory_mb: Reading, queue: Reading, lag: Reading, running: Reading) -> None:
        self._clock = clock
        self._memory, self._queue, self._lag, self._running = memory_mb, queue, lag, running
        self._kept: deque[Moment] = deque(maxlen=_MAX_MOMENTS)
        self._due_ns = 0

    def take(self) -> None:
        """Take a reading when one is due."""
        now = self._clock.monotonic_ns()
        if now < self._due_ns:
            return
        self._due_ns = now + STEP_SEC * SECOND_NS
        self._kept.append(
            Moment(
                at=self._clock.now_ns() // SECOND_NS,
                memory_mb=round(self._memory(), 1),
                queue=self._queue(),
                lag=self._lag(),
                running=self._running(),
            )
        )

    def lately(self, *, minutes: int, points: int) -> tuple[Moment, ...]:
        """The readings of the last minutes, oldest first, in at most so many points."""
        since = self._clock.now_ns() // SECOND_NS - minutes * 60
        recent = [moment for moment in self._kept if moment.at >= since]
        size = -(-len(recent) // points) or 1
        # Grouped from the newest backwards, so that the newest group is full.
        groups = [recent[max(0, end - size) : end] for end in range(len(recent), 0, -size)][::-1]
        return tuple(map(_highest, groups))

    @operation("server.trend", risk=Risk.READ)
    async def trend(self, call: Call, request: TrendRequest) -> Trend:
        """Memory, the ledger's queue, the lag of readers and running calls over the last hour, as far as it is kept."""
        return Trend(moments=self.lately(minutes=request.minutes, points=request.points))


def _highest(group: list[Moment]) -> Moment:
    return Moment(
        at=group[-1].at,
        memory_mb=max(moment.memory_mb for moment in group),
        queue=max(moment.queue for moment in group),
        lag=max(moment.lag for moment in group),
        running=max(moment.running for moment in group),
    )
