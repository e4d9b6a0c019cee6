"""Times that come: on time, late, while the run before goes on, and when the clock is set."""

from datetime import UTC, datetime
from pathlib import Path

from codeplane.kernel.errors import ScheduleBusy
from tests.interaction.requirements import requirement
from tests.kernel.plane import ManualClock
from tests.trust.approvals.agent_calls import result
from tests.work.schedules.scheduling import Scheduling, scheduling

HOUR, DAY = 3600, 86_400
YEAR = 365 * DAY


async def _wakeups(plane: Scheduling, schedule_id: str) -> list[tuple[str, str, str]]:
    """When, why and what became of it."""
    found = await plane.history(schedule_id)
    return [(str(one["scheduled_for"])[5:16], str(one["kind"]), str(one["state"])) for one in found]


@requirement("SCHED-03")
async def test_a_time_that_comes_starts_one_job_and_its_thread_says_so(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create(budget={"max_tool_steps": 5})
        await plane.pass_time(HOUR - 1)
        assert await plane.history(schedule_id) == []
        await plane.pass_time(1)
        await plane.tick()
        (wakeup,) = await plane.history(schedule_id)
        assert (wakeup["kind"], wakeup["state"]) == ("scheduled", "STARTED")
        job = result(await plane.ask("job.show", job_id=wakeup["job_id"]))
        assert (job["trigger_type"], job["trigger_source_id"]) == ("SCHEDULE_WAKEUP", schedule_id)
        shown = await plane.show(schedule_id)
        assert shown["last_run_at"] == "2026-03-02T09:00:00.000000000Z"
        assert shown["next_run_at"] == "2026-03-03T09:00:00.000000000Z"
        (triggered,) = await plane.events("schedule.triggered")
        assert triggered.stream == f"thread/{shown['thread_id']}"
        assert triggered.payload["scheduled_for_utc"] == shown["last_run_at"]
        assert await plane.is_rebuilt_equal()


@requirement("SCHED-04")
async def test_the_newest_of_missed_times_is_run_once_and_the_others_are_counted(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        caught_up = await plane.create()
        skips = await plane.create(missed_policy="skip")
        await plane.pass_time(3 * DAY + 2 * HOUR)
        await plane.tick()
        (late,) = await plane.history(caught_up)
        assert (late["scheduled_for"], late["kind"]) == ("2026-03-05T09:00:00.000000000Z", "catch_up")
        assert (late["missed_before"], late["more_missed"], late["state"]) == (3, False, "STARTED")
        (missed,) = await plane.history(skips)
        assert (missed["state"], missed["missed_before"], missed["job_id"]) == ("MISSED", 3, "")
        # One that is skipped counts as missed, too.
        assert [(await plane.show(one))["missed"] for one in (caught_up, skips)] == [3, 4]
        await plane.pass_time(23 * HOUR)
        assert [one["kind"] for one in await plane.history(skips)] == ["catch_up", "scheduled"]
        assert await plane.is_rebuilt_equal()


@requirement("SCHED-04")
async def test_a_time_that_comes_while_the_run_before_goes_on_is_skipped_and_reported(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        # Nothing runs their jobs here, so these go on.
        alone = await plane.create("PT1H", "interval")
        beside = await plane.create("PT1H", "interval", overlap_policy="allow")
        for _ in range(2):
            await plane.pass_time(HOUR)
        first, second = await plane.history(alone)
        assert (first["state"], second["state"]) == ("STARTED", "SKIPPED")
        assert str(first["job_id"]) in str(second["reason"])
        assert [one["state"] for one in await plane.history(beside)] == ["STARTED", "STARTED"]
        assert (await plane.show(alone))["skipped"] == 1
        await plane.finish(first["job_id"])
        await plane.pass_time(HOUR)
        assert [one["state"] for one in await plane.history(alone)] == ["STARTED", "SKIPPED", "STARTED"]


@requirement("SCHED-04")
async def test_a_schedule_runs_now_besides_its_times_but_not_twice_at_once(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create(enabled=False)
        run = result(await plane.ask("schedule.run", schedule_id=schedule_id))
        assert run["job_id"] and run["turn_id"] and run["wakeup_event_id"]
        busy = await plane.ask("schedule.run", schedule_id=schedule_id)
        assert isinstance(busy.error, ScheduleBusy) and busy.error.details["job_id"] == run["job_id"]
        await plane.finish(run["job_id"])
        again = result(await plane.ask("schedule.run", schedule_id=schedule_id))
        assert again["job_id"] != run["job_id"]
        (first, second) = await plane.history(schedule_id)
        assert (first["kind"], second["kind"]) == ("manual", "manual")
        # It is still off.
        shown = await plane.show(schedule_id)
        assert (shown["enabled"], shown["next_run_at"]) == (False, None)


@requirement("SCHED-01")
async def test_a_schedule_for_one_time_disables_itself_after_it(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create("2026-03-02T10:30:00+01:00", "at")
        assert (await plane.show(schedule_id))["next_runs"] == ["2026-03-02T09:30:00.000000000Z"]
        await plane.pass_time(2 * HOUR)
        shown = await plane.show(schedule_id)
        assert (shown["enabled"], shown["next_run_at"], shown["runs"]) == (False, None, 1)
        await plane.pass_time(DAY)
        assert len(await plane.history(schedule_id)) == 1


@requirement("SCHED-03")
async def test_a_clock_that_is_set_back_repeats_no_time_and_loses_none(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create("0 * * * *", overlap_policy="allow")
        await plane.pass_time(HOUR)
        await plane.pass_time(HOUR)
        plane.clock.jump(-1.5 * HOUR)
        for _ in range(4):
            await plane.pass_time(HOUR / 2)
        # 9 and 10 o'clock come a second time, and have had their wake-ups.
        assert [at for at, _, _ in await _wakeups(plane, schedule_id)] == ["03-02T09:00", "03-02T10:00"]
        await plane.pass_time(HOUR / 2)
        assert [at for at, _, _ in await _wakeups(plane, schedule_id)][2:] == ["03-02T11:00"]


@requirement("SCHED-03")
async def test_a_clock_that_was_years_ahead_does_not_silence_a_schedule(tmp_path: Path) -> None:
    clock = ManualClock(int(datetime(2026, 3, 2, 8, tzinfo=UTC).timestamp()) * 1_000_000_000)
    async with scheduling(tmp_path, clock=clock) as plane:
        schedule_id = await plane.create("0 * * * *", overlap_policy="allow")
        clock.jump(4 * YEAR)
        await plane.tick()
        (ahead,) = await plane.history(schedule_id)
        assert ahead["kind"] == "scheduled" and ahead["more_missed"] is True
        clock.jump(-4 * YEAR)
        await plane.tick()
        assert (await plane.show(schedule_id))["next_run_at"] == "2026-03-02T09:00:00.000000000Z"
        (moved,) = await plane.events("wakeup.rescheduled")
        assert "set back" in str(moved.payload["reason"])
        await plane.pass_time(HOUR)
        assert len(await plane.history(schedule_id)) == 2
        assert await plane.is_rebuilt_equal()


@requirement("SCHED-03")
async def test_old_wake_ups_are_dropped_and_the_schedule_goes_on(tmp_path: Path) -> None:
    async with scheduling(tmp_path, "retention.audit_days=2", "retention.messages_days=1") as plane:
        schedule_id = await plane.create("0 9 * * *", overlap_policy="allow")
        for _ in range(4):
            await plane.pass_time(DAY)
        assert len(await plane.history(schedule_id)) == 4
        await plane.opened.retention.apply()
        assert 0 < len(await plane.history(schedule_id)) < 4
        # What it runs is never dropped, however long it rests.
        await plane.pass_time(100 * DAY)
        await plane.opened.retention.apply()
        await plane.pass_time(DAY)
        shown = await plane.show(schedule_id)
        assert (shown["goal"], shown["enabled"], shown["runs"]) == ("look", True, 6)
        assert await plane.is_rebuilt_equal()
