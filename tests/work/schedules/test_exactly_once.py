"""A time fires once, whoever else looks at the clock, and whatever was cut off before."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from codeplane.kernel.clock import SECOND_NS
from codeplane.wiring.app import Plane
from codeplane.work.schedules.runs import Run, ScheduleRuns
from codeplane.work.schedules.schedule import Schedule, Wakeup
from codeplane.work.schedules.scheduler import Scheduler
from codeplane.work.schedules.wakeups import Wakeups
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps, ManualClock, plane
from tests.shared_planes import QUICK, level
from tests.work.schedules.killed_schedules import besiege
from tests.work.schedules.scheduling import START, Scheduling, scheduling

pytestmark = requirement("SCHED-03")

HOUR = 3600
ROUNDS = 10
KILLS = 4


class _CutOff(Exception):
    """The server ends here."""


async def test_two_schedulers_that_look_at_once_fire_each_time_once(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as here:
        first, second = here.opened.work.schedules.scheduler, _another(here)
        for number in range(4):
            await here.create("PT1H", "interval", name=str(number), overlap_policy="allow")
        for _ in range(ROUNDS):
            here.clock.advance(HOUR)
            await asyncio.gather(first.tick(), second.tick())
        made = await here.events("wakeup.created")
        keys = [(event.stream, event.payload["scheduled_ns"]) for event in made]
        assert len(keys) == len(set(keys)) == 4 * ROUNDS
        assert len(await here.events("job.created")) == 4 * ROUNDS
        assert await here.is_rebuilt_equal()


async def test_two_planes_on_a_shared_log_fire_each_time_once(tmp_path: Path) -> None:
    clock = ManualClock(int(START.timestamp()) * SECOND_NS)
    async with _shared(tmp_path, clock, "first", "second") as (first, second):
        ids = [await Scheduling(first, clock).create("PT1H", "interval") for _ in range(2)]
        theirs = await Scheduling(second, clock).create("PT1H", "interval")
        await level(first, second)
        for _ in range(3):
            clock.advance(HOUR)
            await asyncio.gather(*(opened.work.schedules.scheduler.tick() for opened in (first, second)))
            await level(first, second)
            for opened, own in ((first, ids), (second, [theirs])):
                for schedule_id in own:
                    newest = (await Scheduling(opened, clock).history(schedule_id))[-1]
                    await Scheduling(opened, clock).finish(newest["job_id"])
        await level(first, second)
        made = await Scheduling(first, clock).events("wakeup.created")
        keys = [(event.stream, event.payload["scheduled_ns"]) for event in made]
        assert len(keys) == len(set(keys)) == 9
        # Each plane wakes what was made on it: the goal is about its repository.
        nodes = {event.stream.removeprefix("wakeup/"): event.node for event in made}
        assert {nodes[one] for one in ids} == {first.log.node} and nodes[theirs] == second.log.node


async def test_two_planes_that_both_think_a_schedule_theirs_fire_it_once(tmp_path: Path) -> None:
    clock = ManualClock(int(START.timestamp()) * SECOND_NS)
    async with plane(tmp_path / "first", *QUICK, operations=[FixtureOps()], clock=clock) as alone:
        # Made before the log was shared, it belongs to no node.
        schedule_id = await Scheduling(alone, clock).create("PT1H", "interval", overlap_policy="allow")
    async with _shared(tmp_path, clock, "first", "second") as planes:
        await level(*planes)
        for _ in range(3):
            clock.advance(HOUR)
            await asyncio.gather(*(opened.work.schedules.scheduler.tick() for opened in planes))
            await level(*planes)
        made = await Scheduling(planes[0], clock).events("wakeup.created")
        assert [event.stream for event in made] == [f"wakeup/{schedule_id}"] * 3
        assert len(await Scheduling(planes[0], clock).events("job.created")) == 3


@pytest.mark.parametrize("place", ["before the job", "after the job"])
async def test_a_wake_up_that_was_cut_off_is_started_once_by_the_next_server(tmp_path: Path, place: str) -> None:
    clock = ManualClock(int(START.timestamp()) * SECOND_NS)
    async with scheduling(tmp_path, clock=clock) as before:
        schedule_id = await before.create("PT1H", "interval")
        clock.advance(HOUR)
        with pytest.raises(_CutOff):
            await _another(before, cut=place).tick()
        assert [one["state"] for one in await before.history(schedule_id)] == ["CREATED"]
    async with scheduling(tmp_path, clock=clock) as after:
        await after.tick()
        await after.opened.work.schedules.scheduler.start_recorded()
        (wakeup,) = await after.history(schedule_id)
        assert wakeup["state"] == "STARTED"
        assert len(await after.events("job.created")) == len(await after.events("schedule.triggered")) == 1


async def test_a_full_queue_keeps_the_wake_up_until_there_is_room(tmp_path: Path) -> None:
    async with scheduling(tmp_path, "work.max_queued=1") as here:
        first, second = await here.create("PT1H", "interval"), await here.create("PT2H", "interval")
        await here.pass_time(HOUR)
        await here.pass_time(HOUR)
        assert [one["state"] for one in await here.history(second)] == ["CREATED"]
        # It is not a run that others overlap with, but one that waits.
        await here.opened.work.schedules.scheduler.start_recorded()
        assert [one["state"] for one in await here.history(second)] == ["CREATED"]
        await here.finish((await here.history(first))[0]["job_id"])
        await here.opened.work.schedules.scheduler.start_recorded()
        assert [one["state"] for one in await here.history(second)] == ["STARTED"]


def test_a_server_that_is_killed_while_it_wakes_fires_each_time_once(tmp_path: Path) -> None:
    tally = besiege(tmp_path, kills=KILLS, seed=1)
    assert tally.kills == KILLS and tally.fired >= KILLS


def _another(here: Scheduling, cut: str = "") -> Scheduler:
    """A second scheduler on the same log, as of a second server; `cut` ends it around the start of a job."""
    opened, schedules = here.opened, here.opened.work.schedules
    runs = _CutRuns(schedules.wakeups.runs, cut) if cut else schedules.wakeups.runs
    config = opened.loaded.config.schedules
    return Scheduler(
        log=opened.log,
        store=schedules.store,
        wakeups=Wakeups(store=schedules.store, runs=runs, clock=here.clock, config=config),
        clock=here.clock,
        end_reason=lambda actor: None,
        node=opened.log.node,
        on_crash=lambda error: None,
    )


class _CutRuns(ScheduleRuns):
    """Starts runs for a server that ends before or after it."""

    def __init__(self, runs: ScheduleRuns, place: str) -> None:
        self._runs = runs
        self._place = place

    async def start(self, schedule: Schedule, wakeup: Wakeup) -> Run:
        if self._place == "after the job":
            await self._runs.start(schedule, wakeup)
        raise _CutOff

    async def is_unfinished(self, wakeup: Wakeup) -> bool:
        return await self._runs.is_unfinished(wakeup)


@asynccontextmanager
async def _shared(folder: Path, clock: ManualClock, *names: str) -> AsyncIterator[tuple[Plane, Plane]]:
    setting = f"ledger.shared={folder / 'shared'}"
    async with AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(
                plane(folder / name, setting, *QUICK, operations=[FixtureOps()], clock=clock)
            )
            for name in names
        ]
        yield first, second
