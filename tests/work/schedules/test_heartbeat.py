"""Heartbeats: turns that a schedule sets off in its thread, silent when there is nothing to report."""

from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.work.turns.heartbeat import SILENCE, is_silent
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import result
from tests.work.schedules.scheduling import Scheduling, scheduling
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("SCHED-05")

HOUR = 3600


async def _turn(plane: Scheduling, schedule_id: str) -> JsonObject:
    """The turn of the newest wake-up, once it has ended."""
    turn_id = str((await plane.history(schedule_id))[-1]["turn_id"])
    thread_id = str((await plane.show(schedule_id))["thread_id"])
    async for _ in plane.opened.log.watch(streams={f"thread/{thread_id}": 0}, heartbeat_sec=60):
        turn = result(await plane.ask("turn.show", turn_id=turn_id))
        if turn["status"] in ("COMPLETED", "FAILED"):
            return turn
    raise AssertionError("the log ended")


async def _notifications(plane: Scheduling) -> list[str]:
    listed = result(await plane.ask("notification.list"))["results"]
    assert isinstance(listed, list)
    return [str(one["summary"]) for one in listed if isinstance(one, dict) and one["type"] == "PROACTIVE_REACH_OUT"]


async def test_a_heartbeat_with_nothing_to_report_notifies_nobody_and_is_folded_from_lists(tmp_path: Path) -> None:
    model = ScriptedModel(text(SILENCE), text("The build is red."))
    async with scheduling(tmp_path, model=model) as plane:
        schedule_id = await plane.create("PT1H", "interval", heartbeat=True)
        thread_id = (await plane.show(schedule_id))["thread_id"]
        before = result(await plane.ask("thread.show", thread_id=thread_id))["updated_at"]
        await plane.pass_time(HOUR)
        turn = await _turn(plane, schedule_id)
        assert turn["status"] == "COMPLETED"
        (queued,) = await plane.events("turn.queued")
        assert queued.payload["trigger_type"] == "HEARTBEAT"
        assert queued.payload["trigger_source_id"] == schedule_id
        assert (await plane.events("schedule.triggered"))[0].stream == f"thread/{thread_id}"
        # The model was told how to stay silent.
        assert SILENCE in str(model.asked[0].messages[-1]["text"])
        assert await _notifications(plane) == []
        assert result(await plane.ask("thread.show", thread_id=thread_id))["updated_at"] == before
        assert result(await plane.ask("work.list"))["results"] == []
        folded = await plane.ask("thread.show", thread_id=thread_id)
        assert folded.result is not None and folded.result.text().endswith(
            "heartbeat: look\nassistant: nothing to report"
        )
        assert len(result(await plane.ask("work.list", heartbeats=True))["results"]) == 1  # type: ignore[arg-type]
        # Its twin, which has something to say.
        await plane.pass_time(HOUR)
        await _turn(plane, schedule_id)
        assert await _notifications(plane) == ["The build is red."]
        assert result(await plane.ask("thread.show", thread_id=thread_id))["updated_at"] != before


async def test_rules_see_that_nobody_attends_a_heartbeat(tmp_path: Path) -> None:
    conditions = 'input.operation.name == "search"\n\tinput.context.origin.is_unattended'
    rule = f'deny contains "nobody looks" if {{\n\t{conditions}\n}}\n'
    (tmp_path / ".codeplane/policy").mkdir(parents=True)
    (tmp_path / ".codeplane/policy/quiet.rego").write_text(f"package codeplane.policy\n\n{rule}")
    model = ScriptedModel([tool("search", query="red"), finish()], text(SILENCE))
    async with scheduling(tmp_path, model=model) as plane:
        schedule_id = await plane.create("PT1H", "interval", heartbeat=True)
        await plane.pass_time(HOUR)
        await _turn(plane, schedule_id)
        (finished,) = await plane.events("tool.finished")
        assert finished.payload["status"] == "POLICY_DENIED"


async def test_a_heartbeat_that_fails_says_so(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as plane:
        plane.opened.work.start_engine(plane.opened.conveyor)
        schedule_id = await plane.create("PT1H", "interval", heartbeat=True)
        await plane.pass_time(HOUR)
        turn = await _turn(plane, schedule_id)
        assert (turn["status"], turn["code"]) == ("FAILED", "PROVIDER_UNAVAILABLE")
        (summary,) = await _notifications(plane)
        assert "needs a model" in summary


async def test_heartbeats_notify_no_more_often_than_the_settings_allow(tmp_path: Path) -> None:
    model = ScriptedModel(*(text(f"Found {number}.") for number in range(3)))
    async with scheduling(tmp_path, "schedules.reach_outs_per_day=2", model=model) as plane:
        schedule_id = await plane.create("PT1H", "interval", heartbeat=True)
        for _ in range(3):
            await plane.pass_time(HOUR)
            await _turn(plane, schedule_id)
        assert await _notifications(plane) == ["Found 1.", "Found 0."]


@pytest.mark.parametrize(
    ("answer", "silent"),
    [
        (SILENCE, True),
        (f" `{SILENCE.lower()}`.\n", True),
        (f"**{SILENCE}**", True),
        (f"{SILENCE}, but the build is red", False),
        (f"I would answer {SILENCE}", False),
        ("", False),
    ],
)
def test_only_the_word_alone_is_silence(answer: str, silent: bool) -> None:
    assert is_silent("HEARTBEAT", answer) is silent
    assert is_silent("CHAT_MESSAGE", answer) is False
