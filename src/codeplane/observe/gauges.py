"""`server.trend`: how memory, queues and readers fared lately; a ring in memory, gone with the server."""

from collections import deque
from collections.abc import Callable

from pydantic import Field

from codeplane.kernel.call import Call
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.operation import Request, Result, Risk, operation

STEP_SEC = 5
_KEPT = 720

Reading = Callable[[], float]


class TrendRequest(Request):
    """Over how long, in how many points."""

    minutes: int = Field(60, ge=1, le=60)
    points: int = Field(60, ge=2, le=_KEPT, description="of those that share a point the highest counts")


class Moment(Result):
    """What was read at one time; `at` is in seconds since 1970."""

    at: int
    memory_mb: float
    queue: float = Field(description="events that wait for the ledger's writer")
    lag: float = Field(description="events that the slowest reader has not been given yet")
    running: float = Field(description="calls under way")


class Trend(Result):
    """Readings, the oldest first; since the server's start at most."""

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
    """Reads now and then, and remembers the last hour."""

    def __init__(self, *, clock: Clock, memory_mb: Reading, queue: Reading, lag: Reading, running: Reading) -> None:
        self._clock = clock
        self._memory, self._queue, self._lag, self._running = memory_mb, queue, lag, running
        self._kept: deque[Moment] = deque(maxlen=_KEPT)
        self._due_ns = 0

    def take(self) -> None:
        """Read, if it is time."""
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
        """What was read in the last minutes, the oldest first, in so many points at most."""
        since = self._clock.now_ns() // SECOND_NS - minutes * 60
        found = [one for one in self._kept if one.at >= since]
        size = -(-len(found) // points) or 1
        # From the newest backwards, so that none is left over at the end that people look at.
        groups = [found[max(0, end - size) : end] for end in range(len(found), 0, -size)][::-1]
        return tuple(map(_highest, groups))

    @operation("server.trend", risk=Risk.READ)
    async def trend(self, call: Call, request: TrendRequest) -> Trend:
        """Memory, the ledger's queue, the lag of readers and running calls over the last hour, as far as it is kept."""
        return Trend(moments=self.lately(minutes=request.minutes, points=request.points))


def _highest(group: list[Moment]) -> Moment:
    return Moment(
        at=group[-1].at,
        memory_mb=max(one.memory_mb for one in group),
        queue=max(one.queue for one in group),
        lag=max(one.lag for one in group),
        running=max(one.running for one in group),
    )
