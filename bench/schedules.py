"""Many schedules: what they cost while nothing is due, and how late their times fire: `python -m bench.schedules`."""

import argparse
import asyncio
import os
import tempfile
import time
from pathlib import Path

import uvloop

from bench.fixture import scratch
from bench.measure import Stopwatch, machine
from codeplane.kernel.actor import Caller
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane, run_plane

_WHO = Caller(surface="embedded", client="bench")
_AT_ONCE = 50
_MINUTE = 60
_SETTINGS = (
    "schedules.max_schedules=1000000",
    "work.max_queued=100000",
    "embeddings.model=none",
    "index.watch=false",
)


async def create(plane: Plane, count: int) -> None:
    """Schedules through the door, one for each minute of the hour in turns."""
    waiting = iter(range(count))

    async def worker() -> None:
        for number in waiting:
            asked: JsonObject = {
                "name": f"number {number}",
                "goal": "look around",
                "trigger_kind": "cron",
                "trigger_spec": f"{number % _MINUTE} * * * *",
                "timezone": "Europe/Berlin",
            }
            outcome = await plane.conveyor.call("schedule.create", asked, _WHO)
            if outcome.error is not None:
                raise outcome.error

    await asyncio.gather(*(worker() for _ in range(_AT_ONCE)))


async def idle_cpu(seconds: float) -> float:
    """CPU seconds of this process in a minute, measured between two minutes, when nothing is due."""
    # Into the middle of a minute; a minute boundary would wake schedules.
    await asyncio.sleep((_MINUTE - time.time() % _MINUTE + 8) % _MINUTE)
    with Stopwatch() as watch:
        await asyncio.sleep(seconds)
    return watch.cpu * _MINUTE / watch.wall


async def lateness(plane: Plane, minutes: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a time to its wake-up, and to its job, over the next minutes."""
    after = plane.log.position
    await asyncio.sleep(_MINUTE - time.time() % _MINUTE + (minutes - 1) * _MINUTE + _MINUTE / 2)
    await plane.log.flush()
    woken: list[float] = []
    queued: list[float] = []
    for kind in ("wakeup.created", "job.created"):
        place = after
        while events := await plane.log.query(EventQuery(types=(kind,), after=place, limit=1000)):
            place = events[-1].position
            for event in events:
                scheduled = event.payload.get("scheduled_ns") or event.payload.get("scheduled_for_ns")
                (woken if kind == "wakeup.created" else queued).append((event.at_ns - int(str(scheduled))) / 1e6)
    assert len(woken) == len(queued), (len(woken), len(queued))
    return woken, queued


def percentile(values: list[float], share: float) -> float:
    """A value that so many are not above."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def run(folder: Path, count: int, minutes: int, seconds: float) -> None:
    """Measure and print."""
    workspace, loaded = scratch(folder, *_SETTINGS)
    async with run_plane(workspace, loaded=loaded) as plane:
        with Stopwatch() as watch:
            await create(plane, count)
        print(f"{count} schedules made through the door: {watch.cpu / count * 1000:.2f} ms CPU each")
        without = await idle_cpu(seconds)
        plane.work.start_schedules()
        with Stopwatch() as watch:
            # It works out every next time once.
            while plane.work.schedules.scheduler.enabled < count:
                await asyncio.sleep(0.05)
        await asyncio.sleep(3)
        found = await idle_cpu(seconds)
        print(
            f"idle: {found * 1000:.0f} ms CPU a minute with the scheduler, {without * 1000:.0f} ms without it "
            f"(the plane's own housekeeping): {max(0.0, found - without) * 1000:.0f} ms for {count} schedules"
        )
        woken, queued = await lateness(plane, minutes)
        for name, values in (("its wake-up is recorded", woken), ("its job is queued", queued)):
            print(
                f"from a time until {name}: {len(values)} times, p50 {percentile(values, 0.5):.0f} ms, "
                f"p99 {percentile(values, 0.99):.0f} ms, at most {max(values):.0f} ms"
            )
        doubled = len(woken) - count * minutes // _MINUTE
        print(f"times that fired more or less often than once: {doubled} (load {os.getloadavg()[0]:.1f} at the end)")


def main() -> None:
    """Run everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=9_960, help="a multiple of 60; due evenly over the hour")
    parser.add_argument("--minutes", type=int, default=3, help="for how long times are awaited")
    parser.add_argument("--seconds", type=float, default=40.0, help="how long idleness is measured")
    parser.add_argument("--folder", type=Path, help="where the ledger goes; a disk, not a tmpfs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="codeplane-bench-", dir=options.folder) as name:
        print(machine(Path(name)))
        uvloop.run(run(Path(name), options.schedules, options.minutes, options.seconds))


if __name__ == "__main__":
    main()
