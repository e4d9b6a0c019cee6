"""Threads: snapshots, pages, watches, titles, archives and how long messages are kept."""

import asyncio
from pathlib import Path

from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject, JsonValue
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER, ManualClock
from tests.trust.approvals.agent_calls import refused, result
from tests.work.turns.conversation import Conversation, conversing
from tests.work.turns.scripted_model import ScriptedModel, text

pytestmark = requirement("THREAD-01")


def _contents(items: JsonValue) -> list[str]:
    assert isinstance(items, list)
    return [str(item["content"]) for item in items if isinstance(item, dict)]


async def _watch(thread: Conversation, after: int, turn_id: str) -> list[JsonObject]:
    arguments: JsonObject = {"thread_id": thread.thread_id, "from_sequence": after, "turn_id": turn_id}
    items = [item async for item in thread.opened.conveyor.stream("thread.watch", arguments, OWNER)]
    events = [item.model_dump(mode="json")["event"] for item in items[:-1]]  # type: ignore[union-attr]  # the last is the outcome
    return [event for event in events if event is not None]


async def test_a_snapshot_and_a_watch_from_there_miss_nothing(tmp_path: Path) -> None:
    gate = asyncio.Event()
    model = ScriptedModel(text("One."), [gate, *text("Two ", "words.")])
    async with conversing(tmp_path, model) as thread:
        await thread.send("first")
        turn = await thread.send("second", wait_sec=0)
        snapshot = result(await thread.ask("thread.show", thread_id=thread.thread_id))
        assert _contents(snapshot["items"])[:2] == ["first", "One."] and snapshot["title"] == "first"
        last = int(str(snapshot["last_sequence"]))
        watching = asyncio.ensure_future(_watch(thread, last, str(turn["turn_id"])))
        gate.set()
        seen = await watching
        whole = await thread.events()
        assert [event["event_id"] for event in seen] == [event.event_id for event in whole if event.sequence > last]
        assert seen[-1]["type"] == "turn.completed"
        page = result(await thread.ask("thread.events", thread_id=thread.thread_id, from_sequence=last, limit=2))
        assert page["events"] == seen[:2] and page["last_sequence"] == whole[-1].sequence
        # From the middle of it, as after a lost connection.
        cut = int(str(seen[2]["sequence"]))
        assert await _watch(thread, cut, str(turn["turn_id"])) == seen[3:]


async def test_events_from_the_end_are_none_and_beyond_it_refused(tmp_path: Path) -> None:
    async with conversing(tmp_path, ScriptedModel(text("One."))) as thread:
        last = int(str((await thread.send("first"))["last_sequence"]))
        page = result(await thread.ask("thread.events", thread_id=thread.thread_id, from_sequence=last))
        assert (page["events"], page["last_sequence"]) == ([], last)
        beyond = await thread.ask("thread.events", thread_id=thread.thread_id, from_sequence=last + 1)
        assert refused(beyond) == "INVALID_ARGUMENT" and f"is {last}" in str(beyond.error)


async def test_messages_are_paged_from_the_newest_back(tmp_path: Path) -> None:
    model = ScriptedModel(choose=lambda asked: text(f"re: {asked.messages[-1]['text']}"))
    async with conversing(tmp_path, model) as thread:
        for number in range(5):
            await thread.send(f"m{number}")
        page = result(await thread.ask("thread.messages", thread_id=thread.thread_id, page_size=4))
        assert _contents(page["items"]) == ["m3", "re: m3", "m4", "re: m4"]
        rest: list[str] = []
        while token := str(page["next_page_token"]):
            page = result(
                await thread.ask("thread.messages", thread_id=thread.thread_id, page_size=4, page_token=token)
            )
            rest = [*_contents(page["items"]), *rest]
        assert rest == ["m0", "re: m0", "m1", "re: m1", "m2", "re: m2"]
        # What the model is shown of the conversation.
        shown = [message["text"] for message in model.asked[-1].messages if message["role"] == "user"]
        assert shown == ["m0", "m1", "m2", "m3", "m4"]


async def test_titles_archives_and_bounds(tmp_path: Path) -> None:
    model = ScriptedModel(text("Fine."))
    async with conversing(tmp_path, model) as thread:
        large = await thread.ask("turn.send", thread_id=thread.thread_id, user_text="ä" * 40_000)
        assert refused(large) == "TOO_LARGE"
        unknown = await thread.ask("thread.create", toolset="nonsense")
        assert refused(unknown) == "INVALID_ARGUMENT"
        partly = await thread.ask("thread.create", toolset="fixture,nonsense")
        assert refused(partly) == "INVALID_ARGUMENT" and "'nonsense'" in str(partly.error)
        assert refused(await thread.ask("thread.create", toolset=" , ")) == "INVALID_ARGUMENT"
        assert refused(await thread.ask("thread.show", thread_id="thr_unknown")) == "THREAD_NOT_FOUND"
        blank = await thread.ask("turn.send", thread_id=thread.thread_id, user_text=" \n\t ")
        assert refused(blank) == "INVALID_ARGUMENT"
        untitled = await thread.ask("thread.rename", thread_id=thread.thread_id, title="  ")
        assert refused(untitled) == "INVALID_ARGUMENT"
        for token in ("9" * 19, "9" * 40):
            page = await thread.ask("thread.messages", thread_id=thread.thread_id, page_token=token)
            assert refused(page) == "INVALID_ARGUMENT"
        result(await thread.ask("thread.messages", thread_id=thread.thread_id, page_token="9" * 18))
        await thread.send("What is\nthis?")
        renamed = result(await thread.ask("thread.rename", thread_id=thread.thread_id, title="A title"))
        assert renamed["title"] == "A title"
        found = result(await thread.ask("thread.list", query="TITLE this"))["results"]
        assert isinstance(found, list) and len(found) == 1
        assert result(await thread.ask("thread.list", query="absent"))["results"] == []
        await thread.ask("thread.archive", thread_id=thread.thread_id)
        assert result(await thread.ask("thread.list"))["results"] == []
        archived = await thread.ask("turn.send", thread_id=thread.thread_id, user_text="x")
        assert refused(archived) == "INVALID_ARGUMENT"
        await thread.ask("thread.archive", thread_id=thread.thread_id, archived=False)
        assert (await thread.send("x"))["status"] == "COMPLETED"


async def test_secrets_in_a_message_reach_neither_log_nor_model(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    model = ScriptedModel([{"kind": "text", "delta": f"It is {secret[:12]}"}, *text(secret[12:], " as you said")])
    async with conversing(tmp_path, model) as thread:
        await thread.send(f"my token is {secret}")
        assert secret not in str(model.asked[0].messages)
        whole = [event.payload for event in await thread.events()]
        assert secret not in str(whole)
        said = "".join(str(event.payload["delta"]) for event in await thread.events("assistant.text_delta"))
        assert secret[12:] not in said


async def test_without_a_model_the_index_answers(tmp_path: Path) -> None:
    (tmp_path / "greeting.py").write_text("def greet_everyone():\n    return 'hello'\n")
    async with conversing(tmp_path, None) as thread:
        turn = await thread.send("greet_everyone")
        assert turn["status"] == "COMPLETED" and "greeting.py" in str(turn["assistant_message"])
        assert "No model is configured" in str(turn["assistant_message"])
        (committed,) = await thread.events("assistant.message_committed")
        metadata = committed.payload["metadata"]
        assert isinstance(metadata, dict) and metadata["answered_by"] == "index"


async def test_the_index_answers_a_person_without_cursors(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"caller{number}.py").write_text(f"greet_everyone({number})\n")
    async with conversing(tmp_path, None) as thread:
        said = str((await thread.send("greet_everyone"))["assistant_message"])
        assert "[8 of 12" in said and "cursor=" not in said


async def test_old_messages_go_while_the_thread_lives_on(tmp_path: Path) -> None:
    clock = ManualClock()
    model = ScriptedModel(choose=lambda asked: text(f"re: {asked.messages[-1]['text']}"))
    async with conversing(tmp_path, model, "work.lease_sec=100000000", clock=clock) as thread:
        await thread.send("long ago")
        clock.advance(31 * 86_400)
        await thread.send("today")
        assert (await thread.ask("ledger.retain")).error is None
        snapshot = result(await thread.ask("thread.show", thread_id=thread.thread_id))
        assert _contents(snapshot["items"]) == ["today", "re: today"] and snapshot["messages"] == 2
        await thread.opened.log.flush()
        left = await thread.opened.log.read(
            stream=f"thread/{thread.thread_id}", after=int(str(snapshot["last_sequence"])) - 3
        )
        assert left[-1].sequence == snapshot["last_sequence"]
        gone = await thread.ask("thread.events", thread_id=thread.thread_id)
        assert refused(gone) == "STREAM_GAP"
        # With the messages went the words that they had been streamed in.
        words = await thread.opened.log.query(EventQuery(types=("assistant.text_delta",)))
        assert "".join(str(event.payload["delta"]) for event in words) == "re: today"
        # What the model is shown is what is left.
        await thread.send("and now")
        assert [message["text"] for message in model.asked[-1].messages if message["role"] == "user"] == [
            "today",
            "and now",
        ]
        assert await thread.is_rebuilt_equal()
