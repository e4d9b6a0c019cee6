"""After a restart: what was open is interrupted, what was running is unknown, and looking again changes nothing."""

from pathlib import Path

import pytest

from codeplane.kernel.call_record import CALL_STARTED
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.ids import derived_event_id
from codeplane.kernel.json import JsonObject
from codeplane.wiring.app import Plane
from codeplane.work.recovery import recover
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps, events, plane

INTENT: JsonObject = {
    "operation": "fixture.write",
    "mutates": True,
    "budget": "mutation",
    "arguments_hash": "h",
    "repo_before": "abc",
}


async def kill(opened: Plane, *, running: int) -> tuple[str, str]:
    """Leave the log as a kill leaves it: a session open and calls with an intent alone."""
    meta = (await opened.conveyor.call("fixture.write", {}, AGENT)).meta
    task, session = str(meta.task_id), str(meta.session_id)
    await opened.log.append(
        [
            Draft(
                stream=f"task/{task}",
                type=CALL_STARTED,
                payload=INTENT,
                actor="agent:agent",
                correlation=Correlation(call_id=f"call_{number}", task_id=task, session_id=session),
            )
            for number in range(running)
        ]
    )
    # A clean end would close the session; a kill does not.
    opened.sessions._by_id.clear()
    return task, session


@requirement("TASK-04")
@pytest.mark.parametrize("running", [0, 1, 1200])
async def test_what_was_open_is_interrupted_and_what_was_running_is_unknown(tmp_path: Path, running: int) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        task, session = await kill(opened, running=running)
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        assert await opened.log.select("SELECT task_id, state, reason FROM tasks") == [
            (task, "CLOSED_INTERRUPTED", "crash-recover")
        ]
        assert await opened.log.select("SELECT session_id, reason FROM sessions") == [(session, "crash-recover")]
        counted = await opened.log.select("SELECT calls, failures, mutation_count FROM tasks")
        assert counted == [(1 + running, running, 1 + running)]
        assert await opened.log.select("SELECT count(*) FROM operations WHERE status = 'running'") == [(0,)]
        unknown = [e for e in await events(opened, "call.finished") if e.payload["status"] == "OUTCOME_UNKNOWN"]
        assert len(unknown) == running
        assert {event.event_id for event in unknown} == {
            derived_event_id("unknown-outcome", f"call_{number}") for number in range(running)
        }
        for event in unknown[:1]:
            assert event.stream == f"task/{task}"
            assert (event.correlation.session_id, event.actor) == (session, "agent:agent")
            assert event.payload["executed"] is True
            assert event.payload["repo_before"] == "abc"
            assert event.payload["arguments_hash"] == "h"
        types = [event.type for event in await opened.log.read(stream=f"task/{task}", limit=5000)]
        assert types[-1] == "task.closed"
        refused = await opened.conveyor.call("fixture.read", {"session_id": session}, AGENT)
        assert refused.error is not None
        assert refused.error.name == "SESSION_NOT_FOUND"


@requirement("TASK-04")
async def test_recovering_twice_adds_nothing(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await kill(opened, running=3)
        assert await recover(opened.log) == {"calls": 3, "tasks": 1}
        position = opened.log.position
        for _ in range(2):
            assert await recover(opened.log) == {"calls": 0, "tasks": 0}
        assert opened.log.position == position
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        assert opened.log.position == position


async def test_after_a_clean_end_there_is_nothing_to_recover(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        await opened.conveyor.call("fixture.write", {}, AGENT)
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:
        position = opened.log.position
        assert await recover(opened.log) == {"calls": 0, "tasks": 0}
        assert opened.log.position == position
