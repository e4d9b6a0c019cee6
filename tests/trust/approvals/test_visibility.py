"""Who sees which questions: an agent its own and those in its threads, people and whom they grant it all of them."""

from dataclasses import replace
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, FixtureOps, plane
from tests.trust.approvals.agent_calls import action_of, refused, result
from tests.work.turns.conversation import Conversation, conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, tool

pytestmark = requirement("LOG-52")

OTHER = replace(AGENT, client="other", connection_id="c2")


async def test_an_agent_sees_its_own_questions(tmp_path: Path) -> None:
    async with plane(tmp_path, operations=[FixtureOps()]) as opened:

        async def listed(caller: Caller) -> tuple[set[str], object]:
            found = result(await opened.conveyor.call("approval.list", {}, caller))
            assert isinstance(found["items"], list)
            return {str(item["action_id"]) for item in found["items"] if isinstance(item, dict)}, found["pending"]

        first = action_of(await opened.conveyor.call("fixture.send", {"text": "x"}, AGENT))
        second = action_of(await opened.conveyor.call("fixture.send", {"text": "y"}, OTHER))
        assert await listed(AGENT) == ({first}, 1) and await listed(OTHER) == ({second}, 1)
        assert await listed(OWNER) == ({first, second}, 2)
        hidden = await opened.conveyor.call("approval.show", {"action_id": first}, OTHER)
        assert refused(hidden) == "APPROVAL_NOT_FOUND"
        assert result(await opened.conveyor.call("approval.show", {"action_id": first}, AGENT))["action_id"] == first
        granted: JsonObject = {"agent": "other", "without_token": True, "capabilities": ["context_sharing"]}
        assert (await opened.conveyor.call("capability.grant", granted, OWNER)).error is None
        assert await listed(OTHER) == ({first, second}, 2)


async def test_questions_of_its_threads_are_its_own(tmp_path: Path) -> None:
    model = ScriptedModel([tool("fixture_send", "a", text="x"), finish()])
    async with conversing(tmp_path, model) as thread:
        granted: JsonObject = {"agent": "agent", "without_token": True, "capabilities": ["spawn_agents"]}
        assert (await thread.opened.conveyor.call("capability.grant", granted, OWNER)).error is None
        created = result(await thread.opened.conveyor.call("thread.create", {"toolset": "fixture"}, AGENT))
        turn = await Conversation(thread.opened, str(created["thread_id"]), caller=AGENT).send("Send it")
        pending = turn["pending_action_ids"]
        assert isinstance(pending, list) and len(pending) == 1
        asked: JsonObject = {"action_id": pending[0]}
        assert (await thread.opened.conveyor.call("approval.show", asked, AGENT)).error is None
        assert refused(await thread.opened.conveyor.call("approval.show", asked, OTHER)) == "APPROVAL_NOT_FOUND"
