"""Turns when something goes wrong around them: floods, split secrets, races of clients and people, a full disk."""

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps
from tests.ledger.disks import small_disk
from tests.test_faults import fill
from tests.trust.approvals.agent_calls import refused, result
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    ScriptedProvider,
    answer,
    chunks,
    flood,
    openai_chunk,
    openai_text,
    openai_tool,
    scripted_provider,
)
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("TURN-07")

SECRET = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.mark.parametrize("word", ["word " * 40, "żółw " * 40], ids=["ascii", "two bytes a letter"])
async def test_an_answer_without_end_is_cut_and_the_turn_ends(tmp_path: Path, word: str) -> None:
    (part,) = chunks(openai_chunk({"content": word}))
    with scripted_provider(flood(part, 1_000_000)) as provider:
        async with conversing(tmp_path, None, providers(openai("local", provider.url))) as thread:
            turn = await thread.send("Go", wait_sec=60)
            assert turn["status"] == "COMPLETED", turn
            (answered,) = await thread.events("model.answered")
            assert answered.payload["reason"] == "length"
            deltas = await thread.events("assistant.text_delta")
            shown = "".join(str(event.payload["delta"]) for event in deltas)
            (committed,) = await thread.events("assistant.message_committed")
            message, _, note = str(committed.payload["full_text"]).rpartition("\n")
            assert shown.startswith(message) and len(message) > 50_000
            assert note == f"[cut off: {len(shown) - len(message):,} more characters]"
            # The conversation goes on, and the model is shown no more than fits.
            provider.script = [answer(openai_text("Fine."))]
            assert (await thread.send("And now?"))["assistant_message"] == "Fine."
        assert provider.dropped.wait(60)


@pytest.mark.parametrize("sign", ["a", "\x01", "🐢"], ids=["ascii", "control", "picture"])
async def test_an_answer_in_one_piece_is_shown_in_several_events(tmp_path: Path, sign: str) -> None:
    whole = f"{sign * 9} " * 10_000
    settings = "ledger.max_payload_bytes=131072", "models.max_output_tokens=100000"
    async with conversing(tmp_path, ScriptedModel(text(whole)), *settings) as thread:
        turn = await thread.send("Go")
        assert turn["status"] == "COMPLETED", turn
        deltas = await thread.events("assistant.text_delta")
        assert "".join(str(event.payload["delta"]) for event in deltas) == whole
        (committed,) = await thread.events("assistant.message_committed")
        assert str(committed.payload["full_text"]).startswith(whole[:19_000])


@pytest.mark.parametrize("kind", ["text", "thinking"])
async def test_a_secret_is_not_seen_however_it_is_split(tmp_path: Path, kind: str) -> None:
    whole = f"it is {SECRET} and more"
    for parts in (1, 2, 3, 7):
        deltas = [whole[start : start + parts] for start in range(0, len(whole), parts)]
        items: list[JsonObject] = [{"kind": kind, "delta": delta, "is_summary": True} for delta in deltas]
        async with conversing(tmp_path / f"{parts}", ScriptedModel([*items, *text("Done.")])) as thread:
            await thread.send("Go")
            name = "assistant.text_delta" if kind == "text" else "assistant.thinking_delta"
            shown = "".join(str(event.payload["delta"]) for event in await thread.events(name))
            assert shown.startswith("it is [redacted] and more"), (parts, shown)
            assert SECRET[8:] not in str([event.payload for event in await thread.events()])


async def test_an_approval_and_a_cancel_at_once_leave_one_outcome(tmp_path: Path) -> None:
    model = ScriptedModel(choose=lambda asked: [tool("fixture_send", "a", text="x"), finish()])
    ops = FixtureOps()
    async with conversing(tmp_path, model, ops=ops) as thread:
        for _ in range(10):
            before = len(ops.ran)
            turn = await thread.send("Send it")
            assert turn["status"] == "PAUSED"
            pending = turn["pending_action_ids"]
            assert isinstance(pending, list)
            approved, cancelled = await asyncio.gather(
                thread.ask("approval.approve", action_id=pending[0]),
                thread.ask("turn.cancel", turn_id=str(turn["turn_id"])),
            )
            assert result(cancelled)["code"] == "CANCELLED"
            shown = result(await thread.ask("approval.show", action_id=pending[0]))
            ran = len(ops.ran) - before
            if approved.error is not None:
                assert refused(approved) == "APPROVAL_SETTLED" and (shown["status"], ran) == ("REJECTED", 0)
            else:
                assert ran <= 1 and shown["status"] in ("APPROVED", "EXECUTED", "REJECTED")
            # Nothing happens any more.
            again = await thread.ask("approval.approve", action_id=pending[0])
            assert refused(again) == "APPROVAL_SETTLED"
            settled = len(ops.ran)
            assert result(await thread.ask("turn.show", turn_id=str(turn["turn_id"])))["code"] == "CANCELLED"
            assert len(ops.ran) == settled
        assert await thread.is_rebuilt_equal()


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with scripted_provider(answer(openai_text("Once."))) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path, provider: ScriptedProvider) -> Iterator[Server]:
    running = start(make_repo(tmp_path / "repo"), overrides=[providers(openai("local", provider.url))])
    yield running
    running.stop()


def test_many_clients_with_one_message_id_get_one_turn(server: Server, provider: ScriptedProvider) -> None:
    clients, rounds = 8, 5
    created = server.call("thread.create")["result"]
    assert isinstance(created, dict)
    for number in range(rounds):
        ready = Barrier(clients)

        def send(client: int, number: int = number, ready: Barrier = ready) -> JsonObject:
            own = server.client()
            ready.wait(60)
            asked: JsonObject = {
                "thread_id": created["thread_id"],
                "user_text": "first" if client % 2 else "second",
                "client_message_id": f"m{number}",
                "wait_sec": 60,
            }
            return own.call("turn.send", asked)

        with ThreadPoolExecutor(clients) as pool:
            answers = [*pool.map(send, range(clients))]
        good = [found["result"] for found in answers if "result" in found]
        errors = [found["error"] for found in answers if "error" in found]
        assert len(good) == len(errors) == clients // 2
        assert len({str(turn["turn_id"]) for turn in good if isinstance(turn, dict)}) == 1
        assert {error["error"] for error in errors if isinstance(error, dict)} == {"IDEMPOTENCY_CONFLICT"}
    assert len(provider.requests) == rounds
    shown = server.call("thread.show", thread_id=created["thread_id"])["result"]
    assert isinstance(shown, dict) and shown["messages"] == 2 * rounds


def test_a_full_disk_in_the_middle_of_a_turn_loses_and_repeats_nothing(tmp_path: Path) -> None:
    edit: JsonObject = {"edits": [{"path": "a.txt", "content": "written\n"}]}
    gate = Event()
    script = answer(openai_tool("c", "write_files", edit, "I write. "), gate=gate), answer(openai_text("Done."))
    with small_disk(tmp_path / "disk", "8m") as disk, scripted_provider(*script) as provider:
        repo = make_repo(disk / "repo")
        server = start(repo, overrides=[providers(openai("local", provider.url)), "work.lease_sec=1"])
        try:
            created = server.call("thread.create")["result"]
            assert isinstance(created, dict)
            asked: JsonObject = {"thread_id": created["thread_id"], "client_message_id": "m"}
            sent = server.call("turn.send", **asked, user_text="Write it")
            assert "result" in sent, sent
            until(lambda: len(provider.requests) == 1)
            filler = fill(repo)
            gate.set()
            until(lambda: "STORAGE_FULL" in json.dumps(server.call("thread.create")))
            assert "result" in server.call("thread.show", thread_id=created["thread_id"])
            filler.unlink()
            turn_id = dict(sent["result"])["turn_id"]  # type: ignore[arg-type]  # an object

            def ended() -> JsonObject | None:
                turn = server.call("turn.show", turn_id=turn_id).get("result")
                assert isinstance(turn, dict)
                return turn if turn["status"] in ("COMPLETED", "FAILED") else None

            turn = until(ended)
            assert turn is not None
            page = server.call("thread.events", thread_id=created["thread_id"])["result"]
            assert isinstance(page, dict) and isinstance(page["events"], list)
            events = [event for event in page["events"] if isinstance(event, dict)]
            assert [event["sequence"] for event in events] == [*range(1, len(events) + 1)]
            # It went on, or ended with what was wrong; the file is there if the thread says so, and else not at all.
            assert turn["status"] == "COMPLETED" or turn["code"] == "STORAGE_FULL", turn
            tools = [event["payload"] for event in events if event["type"] == "tool.finished"]
            statuses = [str(payload["status"]) for payload in tools if isinstance(payload, dict)]
            assert statuses in ([], ["ok"], ["STORAGE_FULL"])
            assert (repo / "a.txt").exists() == (statuses == ["ok"])
            verified = server.call("ledger.verify")["result"]
            assert isinstance(verified, dict) and verified["ok"]
            again = server.call("turn.send", **asked, user_text="Write it", wait_sec=60)["result"]
            assert isinstance(again, dict) and again["turn_id"] == turn_id
            after = server.call("turn.send", thread_id=created["thread_id"], user_text="And now?", wait_sec=60)
            assert isinstance(after["result"], dict) and after["result"]["status"] == "COMPLETED", after
        finally:
            server.stop()
