"""A thread of 10,000 messages: pages, snapshots and what a model is shown stay bounded."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import result
from tests.work.threads.long_thread import fill_thread
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, text

pytestmark = requirement("THREAD-01")

MESSAGES, SHOWN, PAGE = 10_000, 50, 200


async def test_snapshots_pages_and_turns_are_bounded(tmp_path: Path) -> None:
    model = ScriptedModel(text("Fine."))
    async with conversing(tmp_path, model, f"turns.max_context_messages={SHOWN}") as thread:
        await fill_thread(thread.opened, thread.thread_id, MESSAGES)
        snapshot = result(await thread.ask("thread.show", thread_id=thread.thread_id))
        items = snapshot["items"]
        assert isinstance(items, list) and len(items) == PAGE and snapshot["messages"] == MESSAGES
        assert isinstance(items[-1], dict) and items[-1]["message_id"] == f"msg_{MESSAGES - 1:06}"
        token, found = str(snapshot["next_page_token"]), [str(item["message_id"]) for item in items]
        while token:
            page = result(
                await thread.ask("thread.messages", thread_id=thread.thread_id, page_size=PAGE, page_token=token)
            )
            older = page["items"]
            assert isinstance(older, list) and len(older) <= PAGE
            found = [*(str(item["message_id"]) for item in older), *found]
            token = str(page["next_page_token"])
        assert found == [f"msg_{number:06}" for number in range(MESSAGES)]
        turn = await thread.send("And now?")
        assert (turn["status"], turn["assistant_message"]) == ("COMPLETED", "Fine.")
        # The instructions, what fits of the conversation, and the question.
        assert len(model.asked[0].messages) == SHOWN + 2
        assert "older messages" in str(model.asked[0].messages[0]["text"])
        later = result(await thread.ask("thread.events", thread_id=thread.thread_id, from_sequence=MESSAGES))
        assert "memory.checkpoint_saved" in str(later["events"])
