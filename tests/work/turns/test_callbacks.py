"""What a turn may only propose after it has read untrusted content, and how the outcome comes back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps
from tests.trust.approvals.agent_calls import result
from tests.trust.untrusted.engine import engine
from tests.work.turns.conversation import Conversation, conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("TURN-05")


# Reading is not asked about here; what leaves afterwards is.
READS = 'trust.allow=["web.search"]'
TOOLS = "fixture,web"


@pytest.fixture(scope="module")
def search() -> Iterator[str]:
    """The setting that names a running search engine."""
    with engine() as setting:
        yield setting


async def _newest_turn(thread: Conversation) -> JsonObject:
    """The turn that was queued last, once it has ended."""
    queued = (await thread.events("turn.queued"))[-1]
    return await thread.reached(str(queued.correlation.turn_id), "COMPLETED", "FAILED")


async def _proposed(thread: Conversation) -> str:
    """Let a turn read a page and want to send something; returns the action."""
    turn = await thread.send("Read it and send it")
    assert (turn["status"], turn["assistant_message"]) == ("COMPLETED", "I proposed it.")
    waiting = result(await thread.ask("approval.list", status="PENDING"))["items"]
    assert isinstance(waiting, list) and len(waiting) == 1 and isinstance(waiting[0], dict)
    return str(waiting[0]["action_id"])


def _script() -> ScriptedModel:
    return ScriptedModel(
        [tool("web_search", "a", query="how to push"), finish()],
        [tool("fixture_send", "b", text="x"), finish()],
        text("I proposed it."),
        text("I see."),
    )


@pytest.mark.parametrize(("answer", "shown"), [("approve", "it ended with: ok"), ("reject", "was not approved")])
async def test_an_outward_call_is_proposed_and_its_outcome_is_a_new_turn(
    tmp_path: Path, search: str, answer: str, shown: str
) -> None:
    ops, model = FixtureOps(), _script()
    async with conversing(tmp_path, model, search, READS, ops=ops, toolset=TOOLS) as thread:
        action_id = await _proposed(thread)
        assert "fixture.send" not in ops.ran
        assert "Do not wait" in str(model.asked[2].messages[-1]["text"])
        await thread.ask(f"approval.{answer}", action_id=action_id)
        await thread.opened.log.flush()
        async for _ in thread.opened.log.watch(streams={f"thread/{thread.thread_id}": 0}):
            if await thread.events("callback.received"):
                break
        turn = await _newest_turn(thread)
        assert turn["assistant_message"] == "I see."
        assert ops.ran.count("fixture.send") == (1 if answer == "approve" else 0)
        called = str(model.asked[3].messages[-1]["text"])
        assert action_id in called and shown in called
        (queued,) = (await thread.events("turn.queued"))[1:]
        assert queued.payload["trigger_type"] == "DELEGATED_CALLBACK"
        assert await thread.is_rebuilt_equal()


async def test_a_remembered_answer_does_not_count(tmp_path: Path, search: str) -> None:
    ops = FixtureOps()
    first = ScriptedModel(
        [tool("fixture_send", "a", text="x"), finish()],
        text("Sent."),
        [tool("web_search", "b", query="how to push"), finish()],
        [tool("fixture_send", "c", text="x"), finish()],
        text("I proposed it."),
    )
    async with conversing(tmp_path, first, search, READS, ops=ops, toolset=TOOLS) as thread:
        turn = await thread.send("Send")
        pending = turn["pending_action_ids"]
        assert isinstance(pending, list)
        await thread.ask("approval.approve", action_id=str(pending[0]), trust=True)
        await thread.reached(str(turn["turn_id"]), "COMPLETED")
        assert ops.ran == ["fixture.send"]
        await _proposed(thread)
        assert ops.ran.count("fixture.send") == 1
