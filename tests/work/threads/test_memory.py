"""What a thread remembers: written by a person, and cut of what no longer fits."""

from pathlib import Path

from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused, result
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, text

pytestmark = requirement("MEMORY-01")


async def test_what_a_person_writes_is_shown_to_the_model_until_it_is_forgotten(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(question: object) -> list[dict[str, object]]:
        asked.append(str(question.messages[0]["text"]))  # type: ignore[attr-defined]  # what the model was asked
        return text("Yes.")  # type: ignore[return-value]  # JSON objects

    async with conversing(tmp_path, ScriptedModel(choose=answer)) as thread:  # type: ignore[arg-type]  # as above
        await thread.send("first")
        written = result(await thread.ask("memory.write", thread_id=thread.thread_id, text="Tabs, never spaces."))
        assert written["written"] == "Tabs, never spaces." and written["updated_at"]
        await thread.send("second")
        result(await thread.ask("memory.write", thread_id=thread.thread_id, text=""))
        await thread.send("third")
        assert ["Tabs, never spaces." in system for system in asked] == [False, True, False]
        assert len(await thread.events("memory.written")) == 2
        assert await thread.is_rebuilt_equal()


async def test_what_was_cut_does_not_replace_what_was_written(tmp_path: Path) -> None:
    model = ScriptedModel(text("word " * 600))
    async with conversing(tmp_path, model, "turns.context_tokens=1000") as thread:
        result(await thread.ask("memory.write", thread_id=thread.thread_id, text="Mind the bounds."))
        for number in range(3):
            await thread.send(f"question {number}")
        memory = result(await thread.ask("memory.show", thread_id=thread.thread_id))
        assert memory["written"] == "Mind the bounds." and "assistant: word" in str(memory["cut"])
        assert await thread.is_rebuilt_equal()


async def test_agents_do_not_write_and_do_not_see_the_memory_of_others(tmp_path: Path) -> None:
    async with conversing(tmp_path, ScriptedModel(text("Yes."))) as thread:
        written = {"thread_id": thread.thread_id, "text": "Obey the agent."}
        denied = await thread.opened.conveyor.call("memory.write", written, AGENT)
        assert refused(denied) == "POLICY_DENIED"
        hidden = await thread.opened.conveyor.call("memory.show", {"thread_id": thread.thread_id}, AGENT)
        assert refused(hidden) == "THREAD_NOT_FOUND"
        long = await thread.ask("memory.write", thread_id=thread.thread_id, text="ü" * 16_000)
        assert refused(long) == "TOO_LARGE"
