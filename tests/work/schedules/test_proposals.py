"""Work changes no schedules: it proposes, and a person applies."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import result
from tests.work.jobs.job_plane import MAY_SPAWN
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("SCHED-06")

SCHEDULE: JsonObject = {"name": "n", "goal": "look", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}


async def test_a_turn_makes_no_schedule_but_may_propose_one(tmp_path: Path) -> None:
    proposal: JsonObject = {
        "kind": "runtime",
        "title": "look each morning",
        "rationale": "you asked every day",
        "operation": "schedule.create",
        "arguments": SCHEDULE,
    }
    model = ScriptedModel(
        [tool("schedule_create", "a", **SCHEDULE), finish()],
        [tool("proposal_create", "b", **proposal), finish()],
        text("Proposed."),
    )
    async with conversing(tmp_path, model, MAY_SPAWN, toolset="schedule,proposal") as thread:
        turn = await thread.send("Look each morning")
        assert (turn["status"], turn["assistant_message"]) == ("COMPLETED", "Proposed.")
        first, second = await thread.events("tool.finished")
        assert (first.payload["status"], second.payload["status"]) == ("POLICY_DENIED", "ok")
        assert "proposal_create" in str(first.payload["preview"])
        assert result(await thread.ask("schedule.list"))["results"] == []
        waiting = result(await thread.ask("proposal.list"))["results"]
        assert isinstance(waiting, list) and isinstance(waiting[0], dict)
        result(await thread.ask("proposal.apply", proposal_id=waiting[0]["proposal_id"]))
        made = result(await thread.ask("schedule.list"))["results"]
        assert isinstance(made, list) and isinstance(made[0], dict) and made[0]["created_by"] == "owner:owner"
