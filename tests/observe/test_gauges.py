"""The last hour of the server itself: read now and then, bounded, the highest of what shares a point."""

from codeplane.observe.gauges import STEP_SEC, Gauges
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock

pytestmark = requirement("OBS-12")


def gauges(clock: ManualClock, read: list[float]) -> Gauges:
    return Gauges(clock=clock, memory_mb=lambda: read[-1], queue=lambda: 0, lag=lambda: read[-1], running=lambda: 1)


def test_it_reads_when_it_is_time() -> None:
    clock, read = ManualClock(), [1.0]
    found = gauges(clock, read)
    for _ in range(3):
        found.take()
    assert len(found.lately(minutes=60, points=60)) == 1
    clock.advance(STEP_SEC)
    read.append(7.0)
    found.take()
    (first, second) = found.lately(minutes=60, points=60)
    assert (first.memory_mb, second.memory_mb, second.lag, second.running) == (1.0, 7.0, 7.0, 1)
    assert second.at - first.at == STEP_SEC


def test_it_keeps_an_hour_and_the_highest_of_each_point() -> None:
    clock, read = ManualClock(), [0.0]
    found = gauges(clock, read)
    for number in range(2000):
        read.append(float(number % 10))
        found.take()
        clock.advance(STEP_SEC)
    kept = found.lately(minutes=60, points=720)
    assert len(kept) == 720 and kept[0].at < kept[-1].at
    assert {one.memory_mb for one in found.lately(minutes=60, points=72)} == {9.0}
    assert len(found.lately(minutes=5, points=720)) <= 5 * 60 // STEP_SEC
    clock.advance(7200)
    assert found.lately(minutes=60, points=60) == ()
