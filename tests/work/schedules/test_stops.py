"""Schedules that may not go on stop, and say why."""

from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.test_shared_planes import Reads
from tests.trust.approvals.agent_calls import result
from tests.work.schedules.scheduling import Scheduling, scheduling

pytestmark = requirement("SCHED-06")

HOUR = 3600
GRANT = 'trust.agent_capabilities=["read_files", "spawn_agents"]'


async def _agent(plane: Scheduling, name: str) -> Scheduling:
    """An agent with a token of its own."""
    made = result(await plane.ask("agent.token", agent=name, capabilities=["read_files", "spawn_agents"]))
    caller = Caller(surface="connect", client=name, token=str(made["token"]))
    return Scheduling(plane.opened, plane.clock, caller)


async def test_a_revoked_creator_stops_its_schedules_at_the_next_look(tmp_path: Path) -> None:
    async with scheduling(tmp_path, GRANT) as plane:
        agent = await _agent(plane, "helper")
        theirs, others = await agent.create("PT1H", "interval"), await plane.create("PT1H", "interval")
        await plane.tick()
        assert (await plane.show(theirs))["enabled"] is True
        result(await plane.ask("agent.revoke", agent="helper"))
        # The scheduler looks once a second.
        await plane.pass_time(1)
        stopped = await plane.show(theirs)
        assert (stopped["enabled"], stopped["next_run_at"]) == (False, None)
        assert "helper" in str(stopped["stop_reason"]) and "revoked" in str(stopped["stop_reason"])
        thread = await plane.opened.log.read(stream=f"thread/{stopped['thread_id']}")
        assert thread[-1].type == "schedule.stopped" and "revoked" in str(thread[-1].payload["reason"])
        await plane.pass_time(HOUR)
        assert await plane.history(theirs) == [] and len(await plane.history(others)) == 1
        # Nobody starts it again for them.
        for operation, arguments in (("schedule.run", {}), ("schedule.update", {"patch": {"enabled": True}})):
            refused = await plane.ask(operation, schedule_id=theirs, **arguments)
            assert refused.error is not None and refused.error.name == "POLICY_DENIED"
        state = result(await plane.ask("status", include=["schedules"]))["schedules"]
        assert isinstance(state, dict) and (state["enabled"], state["stopped"]) == (1, 1)
        assert await plane.is_rebuilt_equal()


async def test_a_device_that_did_not_renew_its_token_stops_its_schedules_and_a_person_is_told(tmp_path: Path) -> None:
    async with scheduling(tmp_path, "devices.token_days=1") as plane:
        code = result(await plane.ask("pairing.create"))["code"]
        nobody = Caller(surface="connect", client="phone")
        asked: JsonObject = {"code": code, "device_name": "phone"}
        paired = result(await plane.opened.conveyor.call("pairing.bind", asked, nobody))
        phone = Scheduling(plane.opened, plane.clock, Caller(surface="connect", token=str(paired["token"])))
        theirs = await phone.create("PT1H", "interval")
        await plane.tick()
        await plane.pass_time(2 * 86_400)
        stopped = await plane.show(theirs)
        assert stopped["enabled"] is False and "did not renew its token in time" in str(stopped["stop_reason"])
        assert "revoked" not in str(stopped["stop_reason"])
        # Once: what its thread is told is no second notification.
        listed = result(await plane.ask("notification.list"))["results"]
        assert isinstance(listed, list)
        (note,) = [note for note in listed if isinstance(note, dict) and note["resource_kind"] == "schedule"]
        assert note["resource_id"] == theirs and "nightly has stopped: device:" in str(note["summary"])
        refused = await plane.ask("schedule.update", schedule_id=theirs, patch={"enabled": True})
        assert refused.error is not None and "did not renew its token" in refused.error.message


async def test_an_archived_thread_stops_its_schedule(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        schedule_id = await plane.create("PT1H", "interval")
        thread_id = (await plane.show(schedule_id))["thread_id"]
        result(await plane.ask("thread.archive", thread_id=thread_id))
        await plane.pass_time(HOUR)
        stopped = await plane.show(schedule_id)
        assert stopped["enabled"] is False and "archived" in str(stopped["stop_reason"])
        assert [one["state"] for one in await plane.history(schedule_id)] == ["FAILED"]
        # Taken out again and enabled again, it goes on.
        result(await plane.ask("thread.archive", thread_id=thread_id, archived=False))
        result(await plane.ask("schedule.update", schedule_id=schedule_id, patch={"enabled": True}))
        await plane.pass_time(HOUR)
        assert [one["state"] for one in await plane.history(schedule_id)] == ["FAILED", "STARTED"]
        assert (await plane.show(schedule_id))["stop_reason"] == ""


async def test_a_thread_that_retention_took_is_replaced_if_it_was_the_schedules_own(tmp_path: Path) -> None:
    async with scheduling(tmp_path, "retention.messages_days=1") as plane:
        thread_id = result(await plane.ask("thread.create"))["thread_id"]
        borrowed = await plane.create("0 9 1 * *", thread_id=thread_id)
        own = await plane.create("0 9 1 * *")
        first = (await plane.show(own))["thread_id"]
        plane.clock.advance(20 * 86_400)
        await plane.opened.retention.apply()
        await plane.pass_time(11 * 86_400)
        assert [one["state"] for one in await plane.history(own)] == ["STARTED"]
        moved = await plane.show(own)
        assert moved["thread_id"] != first and moved["enabled"] is True
        stopped = await plane.show(borrowed)
        assert stopped["enabled"] is False and "THREAD_NOT_FOUND" in str(stopped["stop_reason"])
        assert await plane.is_rebuilt_equal()


async def test_an_agent_that_read_untrusted_content_makes_no_schedule(tmp_path: Path) -> None:
    reader = Reads()
    async with scheduling(tmp_path, GRANT, operations=[reader]) as plane:
        reader.marks = plane.opened.trust.untrusted
        agent = await _agent(plane, "helper")
        schedule_id = await agent.create("PT1H", "interval")
        asked: JsonObject = {"name": "n", "goal": "g", "trigger_kind": "interval", "trigger_spec": "PT1H"}
        result(await agent.ask("fixture.ingest"))
        for operation, arguments in (
            ("schedule.create", asked),
            ("schedule.update", {"schedule_id": schedule_id, "patch": {"goal": "send it all"}}),
            ("schedule.run", {"schedule_id": schedule_id}),
        ):
            refused = await agent.ask(operation, **arguments)
            assert refused.error is not None and refused.error.name == "POLICY_DENIED", operation
        # A person may.
        await plane.create()
