"""An agent that is shown what others do does not change it."""

from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import refused, result
from tests.work.jobs.job_plane import MAY_SPAWN

pytestmark = requirement("LOG-52")

SCHEDULE: JsonObject = {"name": "nightly", "goal": "look", "trigger_kind": "cron", "trigger_spec": "0 9 * * *"}


async def test_shared_schedules_threads_and_artifacts_are_read_and_stay_as_they_are(tmp_path: Path) -> None:
    async with plane(tmp_path, MAY_SPAWN) as opened:

        async def ask(operation: str, arguments: JsonObject, *, by: str = "agent") -> JsonObject:
            return result(await opened.conveyor.call(operation, arguments, OWNER if by == "owner" else AGENT))

        async def refusal(operation: str, arguments: JsonObject) -> str:
            return refused(await opened.conveyor.call(operation, arguments, AGENT))

        schedule_id = (await ask("schedule.create", SCHEDULE, by="owner"))["schedule_id"]
        thread_id = (await ask("thread.create", {"title": "mine"}, by="owner"))["thread_id"]
        artifact = await ask("artifact.put", {"name": "a.md", "text": "mine", "thread_id": thread_id}, by="owner")
        artifact_id = artifact["artifact_id"]
        shared: JsonObject = {"agent": "agent", "without_token": True, "capabilities": ["context_sharing"]}
        await ask("capability.grant", shared, by="owner")

        assert (await ask("schedule.show", {"schedule_id": schedule_id}))["goal"] == "look"
        assert (await ask("thread.show", {"thread_id": thread_id}))["title"] == "mine"
        assert (await ask("artifact.get", {"artifact_id": artifact_id}))["body"] == "mine"

        patch: JsonObject = {"schedule_id": schedule_id, "patch": {"goal": "what the agent wants"}}
        assert await refusal("schedule.update", patch) == "SCHEDULE_NOT_FOUND"
        assert await refusal("schedule.run", {"schedule_id": schedule_id}) == "SCHEDULE_NOT_FOUND"
        assert await refusal("schedule.delete", {"schedule_id": schedule_id}) == "SCHEDULE_NOT_FOUND"
        assert await refusal("thread.rename", {"thread_id": thread_id, "title": "x"}) == "THREAD_NOT_FOUND"
        assert await refusal("turn.send", {"thread_id": thread_id, "user_text": "x"}) == "THREAD_NOT_FOUND"
        assert await refusal("artifact.delete", {"artifact_id": artifact_id}) == "ARTIFACT_NOT_FOUND"
        more: JsonObject = {"artifact_id": artifact_id, "start": 4, "text": " and theirs"}
        assert await refusal("artifact.extend", more) == "ARTIFACT_NOT_FOUND"
        assert (await ask("schedule.show", {"schedule_id": schedule_id}, by="owner"))["goal"] == "look"
        # The person may, as before.
        await ask("schedule.update", patch, by="owner")
