"""Schedules are made, changed, listed and deleted; what cannot be one is refused with the reason."""

from pathlib import Path

from codeplane.kernel.errors import (
    CodePlaneError,
    InvalidArgument,
    ScheduleLimitReached,
    ScheduleNotFound,
    ThreadNotFound,
    TooLarge,
)
from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import result
from tests.work.schedules.scheduling import Scheduling, scheduling

pytestmark = requirement("SCHED-01")


async def test_a_schedule_is_made_with_its_next_five_runs_and_a_thread_of_its_own(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        made = result(
            await plane.ask(
                "schedule.create",
                name="morning",
                goal="Say what changed",
                trigger_kind="SCHEDULE_TRIGGER_CRON",
                trigger_spec="30 9 * * 1-5",
                timezone="Europe/Berlin",
                budget={"max_tool_steps": 7},
                max_wall_time_ms=60_000,
            )
        )
        # The clocks of Berlin are put forward on the 29th of March, behind these.
        assert made["next_runs"] == [f"2026-03-0{day}T08:30:00.000000000Z" for day in (2, 3, 4, 5, 6)]
        assert made["next_run_at"] == "2026-03-02T08:30:00.000000000Z" and made["enabled"] is True
        assert made["budget"] == {"max_tool_steps": 7, "max_tool_tokens": 0, "max_context_messages": 0}
        thread = result(await plane.ask("thread.show", thread_id=made["thread_id"]))
        assert thread["title"] == "morning"
        listed = result(await plane.ask("schedule.list"))
        assert isinstance(listed["results"], list) and len(listed["results"]) == 1
        # By a part of its id, as people type it.
        short = str(made["schedule_id"])[-6:]
        assert (await plane.show(short))["goal"] == "Say what changed"
        assert await plane.is_rebuilt_equal()


PATCHES: tuple[JsonObject, ...] = (
    {"name": "other"},
    {"goal": "Something else", "budget": {"max_tool_steps": 3}},
    {"timezone": "Asia/Tokyo"},
    {"trigger_kind": "interval", "trigger_spec": "PT2H"},
    {"missed_policy": "skip", "overlap_policy": "allow", "changes_files": True, "heartbeat": True},
    {"enabled": False},
)


async def test_a_patch_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create()
        for patch in PATCHES:
            before = await plane.show(schedule_id)
            result(await plane.ask("schedule.update", schedule_id=schedule_id, patch=patch))
            after = await plane.show(schedule_id)
            changed = {name for name in before if before[name] != after[name]}
            times = {"next_run_at", "next_runs"} if {"trigger_kind", "timezone", "enabled"} & patch.keys() else set()
            assert changed - {"updated_at"} == patch.keys() | times
        assert await plane.is_rebuilt_equal()


BAD_PATCHES: tuple[tuple[JsonObject, str], ...] = (
    ({"trigger_specification": "x"}, "trigger_spec"),
    ({"next_run_at": "2030-01-01T00:00:00Z"}, "next_run_at"),
    ({"schedule_id": "sch_other"}, "schedule_id"),
    ({"missed_policy": "everything"}, "missed_policy"),
    ({"trigger_spec": "* * * * * *"}, "6 fields"),
    ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
    ({"trigger_kind": "at", "trigger_spec": "2001-01-01T00:00:00Z"}, "in the past"),
    ({}, "changes nothing"),
)


async def test_a_patch_with_unknown_keys_or_bad_values_is_refused_whole(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create()
        before = await plane.show(schedule_id)
        for bad, wrong in BAD_PATCHES:
            patch: JsonObject = {"name": "x", **bad} if bad else {}
            refused = await plane.ask("schedule.update", schedule_id=schedule_id, patch=patch)
            assert isinstance(refused.error, InvalidArgument), refused.error
            assert wrong in f"{refused.error.message} {refused.error.hint}"
        assert await plane.show(schedule_id) == before


BAD_SCHEDULES: tuple[tuple[JsonObject, type[CodePlaneError], str], ...] = (
    ({"timezone": "Europe/Atlantis"}, InvalidArgument, "Europe/Atlantis"),
    ({"trigger_kind": "interval", "trigger_spec": "PT1S"}, InvalidArgument, "one minute"),
    ({"trigger_spec": "* * * * * *"}, InvalidArgument, "6 fields"),
    ({"trigger_kind": "at", "trigger_spec": "2026-03-01T00:00:00Z"}, InvalidArgument, "in the past"),
    ({"trigger_kind": "sometimes"}, InvalidArgument, "trigger_kind"),
    ({"goal": "x" * 1_000_000}, TooLarge, "1000000"),
    ({"goal": "  "}, InvalidArgument, "goal"),
    ({"thread_id": "thr_unknown"}, ThreadNotFound, "thr_unknown"),
)


async def test_what_cannot_be_a_schedule_is_refused(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        good: JsonObject = {"name": "n", "goal": "g", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}
        for bad, kind, wrong in BAD_SCHEDULES:
            refused = await plane.opened.conveyor.call("schedule.create", {**good, **bad}, plane.caller)
            assert isinstance(refused.error, kind) and wrong in refused.error.message, refused.error
        assert await plane.events("schedule.created") == []


async def test_an_archived_thread_is_no_place_for_a_schedule(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        thread_id = result(await plane.ask("thread.create"))["thread_id"]
        result(await plane.ask("thread.archive", thread_id=thread_id))
        asked: JsonObject = {"name": "n", "goal": "g", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}
        refused = await plane.ask("schedule.create", **asked, thread_id=thread_id)
        assert isinstance(refused.error, InvalidArgument) and "archived" in refused.error.message
        result(await plane.ask("thread.archive", thread_id=thread_id, archived=False))
        assert result(await plane.ask("schedule.create", **asked, thread_id=thread_id))["thread_id"] == thread_id


async def test_there_are_as_many_schedules_as_the_settings_allow(tmp_path: Path) -> None:
    async with scheduling(tmp_path, "schedules.max_schedules=2") as plane:
        first = await plane.create()
        await plane.create()
        asked: JsonObject = {"name": "n", "goal": "g", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}
        refused = await plane.ask("schedule.create", **asked)
        assert isinstance(refused.error, ScheduleLimitReached) and refused.error.details == {"limit": 2}
        result(await plane.ask("schedule.delete", schedule_id=first))
        await plane.create()


async def test_a_deleted_schedule_is_gone_and_never_wakes(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create()
        result(await plane.ask("schedule.delete", schedule_id=schedule_id))
        gone = await plane.ask("schedule.show", schedule_id=schedule_id)
        assert isinstance(gone.error, ScheduleNotFound)
        await plane.pass_time(86_400)
        assert await plane.events("wakeup.created") == []
        assert await plane.is_rebuilt_equal()


async def test_the_times_of_a_trigger_are_shown_before_there_is_a_schedule(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        found = result(await plane.ask("schedule.next", trigger_kind="interval", trigger_spec="PT90M", count=2))
        assert found["runs"] == ["2026-03-02T09:30:00.000000000Z", "2026-03-02T11:00:00.000000000Z"]
        neither = await plane.ask("schedule.next")
        assert isinstance(neither.error, InvalidArgument)


async def test_a_schedule_is_known_by_its_name_where_only_one_has_it(tmp_path: Path) -> None:
    asked: JsonObject = {"name": "nightly", "goal": "g", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}
    async with scheduling(tmp_path, 'trust.agent_capabilities=["read_files","spawn_agents"]') as plane:
        first = result(await plane.ask("schedule.create", **asked))["schedule_id"]
        assert result(await plane.ask("schedule.show", schedule_id="nightly"))["schedule_id"] == first
        agent = Scheduling(plane.opened, plane.clock, AGENT)
        refused = await agent.ask("schedule.delete", schedule_id="nightly")
        assert isinstance(refused.error, ScheduleNotFound)
        second = result(await agent.ask("schedule.create", **asked))["schedule_id"]
        assert result(await agent.ask("schedule.show", schedule_id="nightly"))["schedule_id"] == second
        several = await plane.ask("schedule.delete", schedule_id="nightly")
        assert isinstance(several.error, ScheduleNotFound) and str(first) in several.error.message
        result(await plane.ask("schedule.delete", schedule_id=first))
        assert result(await plane.ask("schedule.delete", schedule_id="nightly"))["schedule_id"] == second


async def test_an_agent_sees_and_changes_its_own_schedules_alone(tmp_path: Path) -> None:
    async with scheduling(tmp_path, 'trust.agent_capabilities=["read_files","spawn_agents"]') as plane:
        owners = await plane.create()
        agent = Scheduling(plane.opened, plane.clock, AGENT)
        own = await agent.create()
        listed = result(await agent.ask("schedule.list"))["results"]
        assert isinstance(listed, list) and [view["schedule_id"] for view in listed if isinstance(view, dict)] == [own]
        for operation in ("schedule.show", "schedule.delete", "schedule.run", "schedule.next"):
            refused = await agent.ask(operation, schedule_id=owners)
            assert isinstance(refused.error, ScheduleNotFound), operation
        patched = await agent.ask("schedule.update", schedule_id=owners, patch={"goal": "mine"})
        assert isinstance(patched.error, ScheduleNotFound)
        assert (await plane.show(own))["created_by"].startswith("agent:")  # type: ignore[union-attr]
        result(await agent.ask("schedule.delete", schedule_id=own))


async def test_an_agent_without_the_capability_makes_none(tmp_path: Path) -> None:
    async with scheduling(tmp_path, 'trust.agent_capabilities=["read_files"]') as plane:
        agent = Scheduling(plane.opened, plane.clock, AGENT)
        asked: JsonObject = {"name": "n", "goal": "g", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}
        refused = await agent.ask("schedule.create", **asked)
        assert refused.error is not None and refused.error.name == "CAPABILITY_DENIED"
