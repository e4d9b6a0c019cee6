"""Turns: a message, a model and its tools, until there is an answer."""

from pathlib import Path

from codeplane.ledger.projection import differences
from codeplane.work.items.table import WorkTable
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps, events
from tests.trust.approvals.agent_calls import result
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("TURN-01")


async def test_a_message_is_answered_and_everything_is_in_the_thread(tmp_path: Path) -> None:
    model = ScriptedModel(text("Hello ", "there, ", "friend."))
    async with conversing(tmp_path, model) as thread:
        turn = await thread.send("Hi!")
        assert (turn["status"], turn["assistant_message"]) == ("COMPLETED", "Hello there, friend.")
        kinds = [event.type for event in await thread.events() if not event.type.startswith("thread.policy")]
        deltas = [kind for kind in kinds if kind == "assistant.text_delta"]
        assert deltas
        assert [kind for kind in kinds if kind != "assistant.text_delta"] == [
            "thread.created",
            "message.created",
            "turn.queued",
            "turn.started",
            "turn.budget_applied",
            "model.answered",
            "assistant.message_committed",
            "turn.completed",
        ]
        said = "".join(str(event.payload["delta"]) for event in await thread.events("assistant.text_delta"))
        assert said == "Hello there, friend."
        (committed,) = await thread.events("assistant.message_committed")
        assert committed.payload["full_text"] == said and committed.content_trust.value == "UNTRUSTED_MODEL"
        assert await thread.is_rebuilt_equal()


async def test_tools_are_called_and_their_answers_go_back_to_the_model(tmp_path: Path) -> None:
    model = ScriptedModel(
        [{"kind": "text", "delta": "Let me look. "}, tool("fixture_read", "a", text="x"), finish("tool_calls")],
        [tool("fixture_write", "b", text="y"), finish("tool_calls")],
        text("Done."),
    )
    ops = FixtureOps()
    async with conversing(tmp_path, model, ops=ops) as thread:
        turn = await thread.send("Change it")
        assert (turn["status"], turn["assistant_message"], turn["tool_steps"]) == ("COMPLETED", "Done.", 2)
        assert ops.ran == ["fixture.read", "fixture.write"]
        roles = [(message["role"], message.get("tool_call_id")) for message in model.asked[-1].messages]
        assert roles == [
            ("system", None),
            ("user", None),
            ("assistant", None),
            ("tool", "a"),
            ("assistant", None),
            ("tool", "b"),
        ]
        shown = [event.type for event in await thread.events() if event.type.startswith("tool.")]
        assert shown == ["tool.planned", "tool.started", "tool.finished"] * 2
        decided = await thread.events("thread.policy.decided")
        assert {str(event.payload["operation"]) for event in decided} >= {"fixture.read", "fixture.write"}
        # That the model may be asked is decided as often, and not shown in the conversation.
        assert "model.call" not in {str(event.payload["operation"]) for event in decided}
        asked = [event.payload["operation"] for event in await events(thread.opened, "policy.decided")]
        assert asked.count("model.call") == 3
        assert await thread.is_rebuilt_equal()


@requirement("WORK-02")
async def test_the_steps_of_a_turn_are_counted_by_its_work_and_shown_by_its_thread(tmp_path: Path) -> None:
    model = ScriptedModel([tool("fixture_read", "a", text="x"), finish("tool_calls")], text("Done."))
    async with conversing(tmp_path, model) as thread:
        turn = await thread.send("Look")
        work_id = f"wrk_{str(turn['turn_id']).replace('-', '')}"
        item = result(await thread.ask("work.show", work_id=work_id))
        # Two questions to the model and a tool.
        assert (item["steps_done"], item["state"]) == (3, "COMPLETED")
        kinds = [event.type for event in await thread.opened.log.read(stream=f"work/{work_id}")]
        assert kinds == ["work.created", "work.leased", "work.completed"]
        assert await thread.opened.log.readers.run(lambda connection: differences(connection, WorkTable())) == []
