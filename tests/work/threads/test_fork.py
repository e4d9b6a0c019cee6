"""Forks of threads: what is copied, up to where, who may, and what a model is shown of it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject, JsonValue
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT
from tests.trust.approvals.agent_calls import refused, result
from tests.trust.untrusted.engine import engine
from tests.work.turns.conversation import Conversation, conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("THREAD-04")


@pytest.fixture(scope="module")
def search() -> Iterator[str]:
    """The setting that names a running search engine."""
    with engine() as setting:
        yield setting


async def _fork(thread: Conversation, **arguments: JsonValue) -> JsonObject:
    return result(await thread.ask("thread.fork", thread_id=thread.thread_id, **arguments))


async def _messages(thread: Conversation, thread_id: JsonValue) -> list[tuple[str, str, str]]:
    shown = result(await thread.ask("thread.show", thread_id=thread_id))["items"]
    assert isinstance(shown, list)
    return [
        (str(item["role"]), str(item["content"]), str(item["content_trust"]))
        for item in shown
        if isinstance(item, dict)
    ]


async def test_a_fork_has_the_messages_and_goes_on_by_itself(tmp_path: Path) -> None:
    model = ScriptedModel(
        [tool("fixture_read", text="x"), finish("tool_calls")], text("One."), text("Two."), text("Elsewhere.")
    )
    async with conversing(tmp_path, model) as thread:
        first = await thread.send("first")
        await thread.send("second")
        whole, part = await _fork(thread), await _fork(thread, last_turn_id=str(first["turn_id"]), title="Other")
        assert (whole["copied"], part["copied"], whole["left_out"], part["title"]) == (4, 2, 0, "Other")
        source = await _messages(thread, thread.thread_id)
        assert await _messages(thread, whole["thread_id"]) == source
        assert await _messages(thread, part["thread_id"]) == source[:2]
        fork = Conversation(thread.opened, str(part["thread_id"]))
        await fork.send("third")
        told = [(message["role"], message["text"]) for message in model.asked[-1].messages[1:]]
        assert told == [("user", "first"), ("assistant", "One."), ("user", "third")]
        # A later turn of the fork is shown its own tools, and still what was copied.
        await fork.send("fourth")
        told = [(message["role"], message["text"]) for message in model.asked[-1].messages[1:]]
        assert told[:4] == [("user", "first"), ("assistant", "One."), ("user", "third"), ("assistant", "Elsewhere.")]
        assert await _messages(thread, thread.thread_id) == source
        assert await fork.is_rebuilt_equal()


async def test_a_turn_that_runs_is_not_copied(tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with conversing(tmp_path, ScriptedModel(text("One."), [gate, *text("Two.")])) as thread:
        await thread.send("first")
        running = await thread.send("second", wait_sec=0)
        assert (await _fork(thread))["copied"] == 2
        refusal = await thread.ask("thread.fork", thread_id=thread.thread_id, last_turn_id=str(running["turn_id"]))
        assert refused(refusal) == "THREAD_BUSY"
        elsewhere = await thread.ask("thread.fork", thread_id=thread.thread_id, last_turn_id="turn-of-nobody")
        assert refused(elsewhere) == "INVALID_ARGUMENT"
        gate.set()


async def test_of_a_long_thread_the_newest_messages_are_copied_which_is_said(tmp_path: Path) -> None:
    async with conversing(tmp_path, ScriptedModel(text("x" * 60_000))) as thread:
        for number in range(20):
            await thread.send(f"{number} " + "y" * 60_000)
        forked = await _fork(thread)
        copied, left_out = int(str(forked["copied"])), int(str(forked["left_out"]))
        assert 0 < copied < 40 and copied + left_out == 40
        assert await _messages(thread, forked["thread_id"]) == (await _messages(thread, thread.thread_id))[-copied:]


async def test_nobody_forks_a_thread_that_they_do_not_see(tmp_path: Path) -> None:
    async with conversing(tmp_path, ScriptedModel(text("One."))) as thread:
        await thread.send("first")
        outcome = await thread.opened.conveyor.call("thread.fork", {"thread_id": thread.thread_id}, AGENT)
        assert refused(outcome) in ("THREAD_NOT_FOUND", "CAPABILITY_DENIED")


async def test_a_fork_of_a_thread_that_read_untrusted_content_is_marked_as_well(tmp_path: Path, search: str) -> None:
    model = ScriptedModel(
        [tool("web_search", query="how to push"), finish("tool_calls")],
        text("Found."),
        [tool("fixture_send", text="x"), finish("tool_calls")],
        text("Sent or not."),
    )
    settings = (search, 'trust.allow=["web.search", "fixture.send"]')
    async with conversing(tmp_path, model, *settings, toolset="web,fixture") as thread:
        await thread.send("look")
        fork = Conversation(thread.opened, str((await _fork(thread))["thread_id"]))
        await fork.send("send it")
        (finished,) = await fork.events("tool.finished")
        assert finished.payload["status"] == "PROPOSED"
