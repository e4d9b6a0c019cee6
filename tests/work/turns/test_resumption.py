"""Turns that were cut off go on at their last recorded step."""

import asyncio
from pathlib import Path

from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, FixtureOps, plane
from tests.trust.approvals.agent_calls import result
from tests.work.turns.conversation import Conversation, conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("TURN-04")


async def test_a_restart_goes_on_and_repeats_no_effect(tmp_path: Path) -> None:
    ops, never = FixtureOps(), asyncio.Event()
    first = ScriptedModel(
        [tool("fixture_write", "a", text="x"), finish()], [{"kind": "text", "delta": "half an answer "}, never]
    )
    async with conversing(tmp_path, first, ops=ops) as thread:
        turn = await thread.send("Change it", wait_sec=0)
        async for _ in thread.opened.log.watch(streams={f"thread/{thread.thread_id}": 0}):
            if await thread.events("assistant.text_delta"):
                break
    second = ScriptedModel(text("All done."))
    async with plane(tmp_path, operations=[ops], models={"scripted": second}) as opened:
        opened.work.start_engine(opened.conveyor)
        again = Conversation(opened, thread.thread_id)
        done = await again.reached(str(turn["turn_id"]), "COMPLETED", "FAILED")
        assert (done["status"], done["assistant_message"]) == ("COMPLETED", "All done.")
        assert ops.ran == ["fixture.write"]
        # The model is shown what it said and what the tool answered before.
        assert [message["role"] for message in second.asked[0].messages][-2:] == ["assistant", "tool"]
        (resumed,) = await again.events("turn.resumed")
        assert resumed.payload["resumed_reason"] == "restart"
        segments = [str(event.payload["segment_id"]) for event in await again.events("assistant.text_delta")]
        assert segments[0] == "1" and set(segments[1:]) == {"1@2"}
        assert await again.is_rebuilt_equal()


async def test_a_paused_turn_is_resumed_by_an_answer_after_a_restart(tmp_path: Path) -> None:
    ops = FixtureOps()
    asking = ScriptedModel([tool("fixture_send", "a", text="x"), finish()])
    async with conversing(tmp_path, asking, ops=ops) as thread:
        turn = await thread.send("Send it")
        assert turn["status"] == "PAUSED"
    async with plane(tmp_path, operations=[ops], models={"scripted": ScriptedModel(text("Sent."))}) as opened:
        opened.work.start_engine(opened.conveyor)
        again = Conversation(opened, thread.thread_id)
        waiting = result(await again.ask("approval.list", status="PENDING"))["items"]
        assert isinstance(waiting, list) and isinstance(waiting[0], dict)
        await opened.conveyor.call("approval.approve", {"action_id": waiting[0]["action_id"]}, OWNER)
        done = await again.reached(str(turn["turn_id"]), "COMPLETED", "FAILED")
        assert (done["assistant_message"], ops.ran) == ("Sent.", ["fixture.send"])


async def test_what_a_turn_changed_is_taken_back(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    edit = {"path": "a.txt", "old": "one", "new": "two"}
    more = {"path": "a.txt", "old": "two", "new": "three"}
    model = ScriptedModel(
        [tool("write_files", "a", edits=[edit]), finish()],
        [tool("write_files", "b", edits=[more]), finish()],
        text("Changed."),
    )
    async with conversing(tmp_path, model, toolset="core") as thread:
        turn = await thread.send("Change it")
        assert (turn["status"], (tmp_path / "a.txt").read_text()) == ("COMPLETED", "three\n")
        undone = result(await thread.ask("turn.undo", turn_id=str(turn["turn_id"])))
        assert isinstance(undone["undone"], list) and len(undone["undone"]) == 2
        assert (tmp_path / "a.txt").read_text() == "one\n"
        again = result(await thread.ask("turn.undo", turn_id=str(turn["turn_id"])))
        assert again["undone"] == []
