"""What bounds turns: the queue, budgets, a person's decisions, interrupts and cancels."""

import asyncio
from dataclasses import replace
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps
from tests.trust.approvals.agent_calls import refused, result
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import Answer, ScriptedModel, finish, text, tool

pytestmark = requirement("TURN-02")

_WORDS = ("first", "second", "third", "fourth")


def _pending(turn: JsonObject) -> str:
    """The one action that the turn waits for."""
    pending = turn["pending_action_ids"]
    assert isinstance(pending, list) and len(pending) == 1
    return str(pending[0])


async def test_the_same_client_message_is_the_same_turn(tmp_path: Path) -> None:
    model = ScriptedModel(text("Once."))
    async with conversing(tmp_path, model) as thread:
        first, second = await asyncio.gather(
            thread.send("Hi", client_message_id="m1"), thread.send("Hi", client_message_id="m1")
        )
        assert first["turn_id"] == second["turn_id"] and len(model.asked) == 1
        again = await thread.send("Hi", client_message_id="m1")
        assert (again["turn_id"], again["assistant_message"]) == (first["turn_id"], "Once.")
        other = await thread.ask(
            "turn.send", thread_id=thread.thread_id, user_text="Something else", client_message_id="m1"
        )
        assert refused(other) == "IDEMPOTENCY_CONFLICT"
        assert len(await thread.events("message.created")) == 1


async def test_a_busy_thread_queues_refuses_or_is_interrupted(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel([gate, *text("First.")], text("Second."), text("Third."))
    async with conversing(tmp_path, model, "turns.max_queued=1") as thread:
        first = await thread.send("one", wait_sec=0)
        await thread.reached(str(first["turn_id"]), "RUNNING")
        busy = await thread.ask("turn.send", thread_id=thread.thread_id, user_text="no", queue_mode="REJECT_IF_BUSY")
        assert refused(busy) == "THREAD_BUSY"
        second = await thread.send("two", wait_sec=0)
        assert second["status"] == "QUEUED"
        full = await thread.ask("turn.send", thread_id=thread.thread_id, user_text="three")
        assert refused(full) == "THREAD_BUSY"
        gate.set()
        done = await thread.reached(str(second["turn_id"]), "COMPLETED")
        assert done["assistant_message"] == "Second."
        ends = [event.correlation.turn_id for event in await thread.events("turn.completed")]
        assert ends == [first["turn_id"], second["turn_id"]]


async def test_three_turns_run_at_once_and_one_that_waits_for_a_person_holds_no_place(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(
        choose=lambda asked: (
            [tool("fixture_send", "a", text="x"), finish()]
            if asked.messages[-1]["text"] == "Send it"
            else [gate, *text("Done.")]
        )
    )
    async with conversing(tmp_path, model) as thread:
        assert (await thread.send("Send it"))["status"] == "PAUSED"
        turns: list[str] = []
        for _ in range(5):
            created = result(await thread.ask("thread.create", toolset="fixture"))
            sent = await thread.ask("turn.send", thread_id=str(created["thread_id"]), user_text="Think")
            turns.append(str(result(sent)["turn_id"]))

        async def count(status: str) -> int:
            shown = [result(await thread.ask("turn.show", turn_id=turn_id)) for turn_id in turns]
            return sum(turn["status"] == status for turn in shown)

        async for _ in thread.opened.log.follow(EventQuery(types=("turn.started",)), heartbeat_sec=60):
            if await count("RUNNING") == 3:
                break
        assert (await count("QUEUED"), len(model.asked)) == (2, 4)
        gate.set()
        async for _ in thread.opened.log.follow(EventQuery(types=("turn.completed",)), heartbeat_sec=60):
            if await count("COMPLETED") == 5:
                break


async def test_an_interrupt_ends_the_turn_after_its_tool_and_the_new_one_runs(tmp_path: Path) -> None:
    never = asyncio.Event()
    slow: Answer = [{"kind": "text", "delta": "thinking about "}, never]
    model = ScriptedModel(choose=lambda asked: slow if asked.messages[-1]["text"] == "one" else text("The new answer."))
    async with conversing(tmp_path, model) as thread:
        first = await thread.send("one", wait_sec=0)
        await thread.reached(str(first["turn_id"]), "RUNNING")
        second = await thread.send("two", queue_mode="INTERRUPT_AFTER_CURRENT_TOOL")
        assert second["assistant_message"] == "The new answer."
        ended = result(await thread.ask("turn.show", turn_id=str(first["turn_id"])))
        assert (ended["status"], ended["code"]) == ("FAILED", "INTERRUPTED")


async def test_a_budget_that_is_used_up_ends_with_last_words(tmp_path: Path) -> None:
    model = ScriptedModel(
        [tool("fixture_read", "a"), finish()],
        [tool("fixture_read", "b"), tool("fixture_read", "c"), finish()],
        text("I looked twice; one place is left."),
    )
    ops = FixtureOps()
    async with conversing(tmp_path, model, ops=ops) as thread:
        turn = await thread.send("Look", requested_budget={"max_tool_steps": 2})
        assert (turn["status"], turn["code"]) == ("FAILED", "TURN_BUDGET_EXCEEDED")
        assert turn["assistant_message"] == "I looked twice; one place is left."
        assert ops.ran == ["fixture.read"] * 2 and model.asked[-1].tools == ()
        (applied,) = await thread.events("turn.budget_applied")
        budget = applied.payload["effective_budget"]
        assert isinstance(budget, dict) and budget["max_tool_steps"] == 2
        assert applied.payload["tokenizer"] == "wordllama"
        # More than four times the setting is not given.
        await thread.send("Look", requested_budget={"max_tool_steps": 5000})
        budget = (await thread.events("turn.budget_applied"))[-1].payload["effective_budget"]
        assert isinstance(budget, dict) and budget["max_tool_steps"] == 96


async def test_a_model_that_repeats_its_ids_gets_each_call_answered_and_its_budget_bounded(tmp_path: Path) -> None:
    ops, asked = FixtureOps(), iter("abcdefgh")
    long_id = "i" * 10_000
    model = ScriptedModel(
        [tool("fixture_read", "call_0", text="first"), finish()],
        [tool("fixture_read", "call_0", text="second"), tool("fixture_read", "call_0_2", text="third"), finish()],
        [tool("fixture_read", long_id, text="fourth"), finish()],
        text("Done."),
    )
    async with conversing(tmp_path, model, ops=ops) as thread:
        turn = await thread.send("Go")
        assert (turn["status"], turn["tool_steps"]) == ("COMPLETED", 4)
        answered = [message for message in model.asked[-1].messages if message["role"] == "tool"]
        assert [word in str(message["text"]) for word, message in zip(_WORDS, answered, strict=True)] == [True] * 4
        planned = [str(event.payload["tool_call_id"]) for event in await thread.events("tool.planned")]
        assert len(set(planned)) == 4 and planned[0] == "call_0" and max(map(len, planned)) <= 40
        assert await thread.is_rebuilt_equal()
    endless = ScriptedModel(choose=lambda _: [tool("fixture_read", "call_0", text=next(asked)), finish()])
    async with conversing(tmp_path / "endless", endless) as thread:
        turn = await thread.send("Go", requested_budget={"max_tool_steps": 3})
        assert (turn["code"], turn["tool_steps"], len(endless.asked)) == ("TURN_BUDGET_EXCEEDED", 3, 4)


async def test_an_approval_pauses_the_turn_and_a_yes_goes_on(tmp_path: Path) -> None:
    model = ScriptedModel([tool("fixture_send", "a", text="x"), finish()], text("Sent."))
    ops = FixtureOps()
    async with conversing(tmp_path, model, ops=ops) as thread:
        turn = await thread.send("Send it")
        assert turn["status"] == "PAUSED" and ops.ran == []
        action_id = _pending(turn)
        shown = [event.type for event in await thread.events() if event.type.startswith("thread.action")]
        assert shown == ["thread.action.created"]
        await thread.ask("approval.approve", action_id=action_id)
        done = await thread.reached(str(turn["turn_id"]), "COMPLETED", "FAILED")
        assert (done["status"], done["assistant_message"], ops.ran) == ("COMPLETED", "Sent.", ["fixture.send"])
        (resumed,) = await thread.events("turn.resumed")
        assert resumed.payload["resumed_reason"] == "approval"
        kinds = [event.type for event in await thread.events() if event.type.startswith("thread.action")]
        assert kinds == ["thread.action.created", "thread.action.approved", "thread.action.executed"]
        assert await thread.is_rebuilt_equal()


async def test_a_no_is_what_the_tool_answers(tmp_path: Path) -> None:
    model = ScriptedModel([tool("fixture_send", "a", text="x"), finish()], text("Then not."))
    ops = FixtureOps()
    async with conversing(tmp_path, model, ops=ops) as thread:
        turn = await thread.send("Send it")
        action_id = _pending(turn)
        await thread.ask("approval.reject", action_id=action_id, reason="too early")
        done = await thread.reached(str(turn["turn_id"]), "COMPLETED", "FAILED")
        assert (done["assistant_message"], ops.ran) == ("Then not.", [])
        answered = str(model.asked[-1].messages[-1]["text"])
        assert "REJECTED" in answered and "too early" in answered


async def test_a_turn_is_cancelled_in_every_state(tmp_path: Path) -> None:
    never = asyncio.Event()
    model = ScriptedModel([tool("fixture_send", "a", text="x"), finish()], [never])
    async with conversing(tmp_path, model) as thread:
        paused = await thread.send("Send it")
        queued = await thread.send("Wait", wait_sec=0)
        for turn in (queued, paused):
            ended = result(await thread.ask("turn.cancel", turn_id=str(turn["turn_id"])))
            assert (ended["status"], ended["code"]) == ("FAILED", "CANCELLED")
        waiting = result(await thread.ask("approval.list", status="PENDING"))
        assert waiting["items"] == []
        running = await thread.send("Think", wait_sec=0)
        await thread.reached(str(running["turn_id"]), "RUNNING")
        ended = result(await thread.ask("turn.cancel", turn_id=str(running["turn_id"])))
        assert (ended["status"], ended["code"]) == ("FAILED", "CANCELLED")
        again = result(await thread.ask("turn.cancel", turn_id=str(running["turn_id"])))
        assert again["code"] == "CANCELLED" and len(await thread.events("turn.failed")) == 3
        assert await thread.is_rebuilt_equal()


async def test_clients_cannot_claim_triggers_nor_raw_reasoning(tmp_path: Path) -> None:
    thinking: list[JsonObject] = [{"kind": "thinking", "delta": "the secret plan"}]
    model = ScriptedModel([*thinking, *text("Answer.")])
    async with conversing(tmp_path, model) as thread:
        claimed = await thread.ask(
            "turn.send", thread_id=thread.thread_id, user_text="x", trigger_type="SCHEDULE_WAKEUP"
        )
        assert refused(claimed) == "POLICY_DENIED"
        raw = await thread.ask(
            "turn.send", thread_id=thread.thread_id, user_text="x", reasoning_visibility="REASONING_RAW"
        )
        assert refused(raw) == "POLICY_DENIED"
        await thread.send("x")
        (summary,) = await thread.events("assistant.thinking_delta")
        assert summary.payload["redacted"] is True and "15 characters" in str(summary.payload["delta"])
        whole = str([event.payload for event in await thread.events()])
        assert "secret plan" not in whole
    async with conversing(tmp_path / "raw", model, "turns.raw_reasoning=true") as thread:
        await thread.send("x", reasoning_visibility="REASONING_RAW")
        shown = await thread.events("assistant.thinking_delta")
        assert "".join(str(event.payload["delta"]) for event in shown) == "the secret plan"
        assert {event.payload["redacted"] for event in shown} == {False}


@requirement("THREAD-02")
async def test_an_agent_sees_and_uses_only_its_own_threads(tmp_path: Path) -> None:
    model = ScriptedModel(text("Hello."))
    async with conversing(tmp_path, model) as thread:
        turn = await thread.send("Mine")

        async def asked(caller: Caller, name: str, /, **arguments: str) -> str:
            outcome = await thread.opened.conveyor.call(name, arguments, caller)
            return "ok" if outcome.error is None else outcome.error.name

        assert await asked(AGENT, "thread.show", thread_id=thread.thread_id) == "THREAD_NOT_FOUND"
        assert await asked(AGENT, "thread.messages", thread_id=thread.thread_id) == "THREAD_NOT_FOUND"
        assert await asked(AGENT, "turn.show", turn_id=str(turn["turn_id"])) == "TURN_NOT_FOUND"
        assert await asked(AGENT, "turn.cancel", turn_id=str(turn["turn_id"])) == "TURN_NOT_FOUND"
        assert await asked(AGENT, "thread.create") == "CAPABILITY_DENIED"
        events = await thread.opened.conveyor.call("ledger.events", {"stream": f"thread/{thread.thread_id}"}, AGENT)
        assert result(events)["results"] == []
        granted: JsonObject = {"agent": "agent", "without_token": True, "capabilities": ["spawn_agents"]}
        assert (await thread.opened.conveyor.call("capability.grant", granted, thread.caller)).error is None
        created = result(await thread.opened.conveyor.call("thread.create", {"toolset": "fixture"}, AGENT))
        own = replace(thread, thread_id=str(created["thread_id"]), caller=AGENT)
        assert (await own.send("Hi"))["assistant_message"] == "Hello."
        listed = result(await own.ask("thread.list"))["results"]
        assert isinstance(listed, list) and [row["thread_id"] for row in listed if isinstance(row, dict)] == [
            own.thread_id
        ]
        both = result(await thread.ask("thread.list"))["results"]
        assert isinstance(both, list) and len(both) == 2


@requirement("THREAD-02")
async def test_an_agent_learns_no_ids_of_others_from_parts_of_them(tmp_path: Path) -> None:
    async with conversing(tmp_path, ScriptedModel(text("Hello."))) as thread:
        turn = await thread.send("Mine")
        await thread.send("Mine too")
        await thread.ask("thread.create", toolset="fixture")
        turn_id, work_id = str(turn["turn_id"]), str(turn["work_id"])

        async def message(caller: Caller, name: str, /, **arguments: str) -> str:
            outcome = await thread.opened.conveyor.call(name, arguments, caller)
            assert outcome.error is not None and outcome.error.name.endswith("_NOT_FOUND")
            return outcome.error.message

        for name, field, what, part, whole, absent in (
            ("thread.show", "thread_id", "thread", "thr_", thread.thread_id, "thr_absent"),
            ("turn.show", "turn_id", "turn", turn_id[:8], turn_id, "absent"),
            ("work.show", "work_id", "work item", "wrk_", work_id, "wrk_absent"),
        ):
            for wanted in (part, whole[:-1], whole, absent):
                assert await message(AGENT, name, **{field: wanted}) == f"there is no {what} {wanted!r}"
        # A person is shown which are meant.
        assert thread.thread_id in await message(thread.caller, "thread.show", thread_id="thr_")
