"""OpenAI's own SDK drives threads: turns, items, commands, steering, history, forks and archives."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_codex import AsyncCodex, Codex, CodexConfig
from openai_codex.errors import InvalidRequestError
from openai_codex.models import JsonObject, UnknownNotification
from openai_codex.types import TurnStatus

from tests.harness import CPL, Server, cpl, make_repo
from tests.interaction.requirements import requirement
from tests.surfaces.app_server.assistant import FILES, Assistant, assistant, call, items_of, until_completed

pytestmark = requirement("CDX-01")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    """A server with a model."""
    with assistant(tmp_path_factory.mktemp("sdk")) as running:
        yield running


@pytest.fixture
def codex(served: Assistant) -> Iterator[Codex]:
    """The SDK, connected."""
    with served.codex() as codex:
        yield codex


@requirement("CDX-02")
def test_without_a_model_a_turn_is_answered_from_the_index(server: Server) -> None:
    with Codex(CodexConfig(codex_bin=CPL, cwd=str(server.repo))) as codex:
        assert codex.metadata.serverInfo is not None and codex.metadata.serverInfo.version == "0.163.0"
        thread = codex.thread_start()
        result = thread.run("example")
        assert result.status is TurnStatus.completed and "README.md" in str(result.final_response)
        (model,) = codex.models().data
        assert (model.id, model.is_default) == ("index", True)
        assert codex.account().requires_openai_auth is False


async def test_the_asynchronous_client_streams_items(served: Assistant) -> None:
    async with AsyncCodex(served.config()) as codex:
        thread = await codex.thread_start(model="small")
        turn = await thread.turn("count 20")
        methods, text = list[str](), ""
        async for note in turn.stream():
            assert not isinstance(note.payload, UnknownNotification), note
            methods.append(note.method)
            text += note.payload.delta if note.method == "item/agentMessage/delta" else ""  # type: ignore[union-attr]  # a delta
        assert text.split() == [str(number) for number in range(20)]
        started = methods.index("item/started", methods.index("item/started") + 1)
        assert methods[0] == "turn/started" and methods[-1] == "turn/completed"
        assert started < methods.index("item/agentMessage/delta") < len(methods) - 1
        assert (await codex.models()).data[0].id == "local/small"


def test_a_file_change_is_an_item_with_its_diff(served: Assistant, codex: Codex) -> None:
    edit = {"path": "made.txt", "content": "one\ntwo\n"}
    result = codex.thread_start().run(call("write_files", edits=[edit]))
    kinds = [item.root.type for item in result.items]
    assert kinds == ["userMessage", "agentMessage", "fileChange", "agentMessage"]
    change = result.items[2].root.model_dump(mode="json", by_alias=True)
    assert change["status"] == "completed"
    (made,) = change["changes"]
    assert (made["path"], made["kind"]["type"]) == ("made.txt", "add") and "+one\n+two\n" in made["diff"]
    assert result.final_response == "all done" and (served.repo / "made.txt").read_text() == "one\ntwo\n"
    assert result.usage is not None and result.usage.total.output_tokens > 0


@pytest.mark.parametrize("approve", [True, False])
def test_a_command_waits_for_a_person_in_our_inbox(served: Assistant, approve: bool) -> None:
    name = f"ran-{approve}.txt"
    with served.client() as client:
        thread = client.thread_start().thread.id
        turn = client.turn_start(thread, call("run_bash", command=f"echo ran | tee {name}")).turn.id
        action = served.pending()
        assert action["actor"] == f"assistant:{thread}"
        waiting = client.thread_read(thread).thread.status.root
        assert waiting.type == "active" and [flag.value for flag in waiting.active_flags] == ["waitingOnApproval"]
        served.decide(approve=approve)
        seen = until_completed(client, turn)
        (item,) = [item for item in items_of(seen) if item["type"] == "commandExecution"]
        assert item["command"] == f"echo ran | tee {name}"
        assert item["status"] == ("completed" if approve else "declined")
        assert (served.repo / name).exists() is approve
        if approve:
            assert (item["exitCode"], item["aggregatedOutput"]) == (0, "ran\n")
            deltas = [note.payload.delta for note in seen if note.method == "item/commandExecution/outputDelta"]  # type: ignore[union-attr]  # deltas
            assert "".join(deltas) == "ran\n"
        # History shows what was streamed.
        (read,) = client.thread_read(thread, include_turns=True).thread.turns
        assert [item.root.model_dump(mode="json", by_alias=True) for item in read.items] == items_of(seen)
        assert client.thread_read(thread).thread.status.root.type == "idle"


def test_a_steered_turn_goes_on_as_the_same_turn(served: Assistant, codex: Codex) -> None:
    thread = codex.thread_start()
    turn = thread.turn("hang")
    stream = turn.stream()
    seen = [next(stream)]
    while seen[-1].method != "item/agentMessage/delta":
        seen.append(next(stream))
    assert turn.steer("stop thinking").turn_id == turn.id
    seen += stream
    assert seen[-1].payload.turn.status is TurnStatus.completed  # type: ignore[union-attr]  # the end
    texts = [item["text"] for item in items_of(seen) if item["type"] == "agentMessage"]
    assert texts[-1] == "you said stop thinking"
    asked = [item["content"] for item in items_of(seen) if item["type"] == "userMessage"]
    assert len(asked) == 2
    (read,) = thread.read(include_turns=True).thread.turns
    assert read.id == turn.id and read.status is TurnStatus.completed
    assert [item.root.id for item in read.items] == [item["id"] for item in items_of(seen)]


def test_only_the_turn_that_runs_is_steered_or_interrupted(served: Assistant, codex: Codex) -> None:
    thread = codex.thread_start()
    done = thread.turn("hello")
    assert done.run().final_response == "you said hello"
    with pytest.raises(InvalidRequestError, match="no active turn"):
        done.interrupt()
    running = thread.turn("hang")
    with pytest.raises(InvalidRequestError, match=f"expected active turn id `{done.id}` but found `{running.id}`"):
        done.steer("more")
    assert running.interrupt() is not None
    result = running.run()
    assert result.status is TurnStatus.interrupted and result.final_response != "you said more"


def test_a_thread_goes_on_after_the_server_was_killed(served: Assistant) -> None:
    with served.codex() as codex:
        thread = codex.thread_start()
        thread.run("count 3")
    served.restart()
    with served.codex() as codex:
        resumed = codex.thread_resume(thread.id)
        assert resumed.run("hello").final_response == "you said hello"
        turns = resumed.read(include_turns=True).thread.turns
        assert [turn.status for turn in turns] == [TurnStatus.completed] * 2


def test_threads_are_listed_forked_named_and_archived(served: Assistant, codex: Codex) -> None:
    thread = codex.thread_start()
    thread.run("a thread of its own")
    thread.run("a second turn")
    thread.set_name("Colours of the shop")
    listed = codex.thread_list(search_term="Colours of the shop", limit=5)
    assert [found.id for found in listed.data] == [thread.id] and listed.data[0].name == "Colours of the shop"
    fork = codex.thread_fork(thread.id)
    texts = [item.root for turn in fork.read(include_turns=True).thread.turns for item in turn.items]
    assert [item.type for item in texts] == ["userMessage", "agentMessage"] * 2
    assert fork.run("and on").final_response == "you said and on"
    assert len(thread.read(include_turns=True).thread.turns) == 2
    codex.thread_archive(thread.id)
    assert thread.id not in [found.id for found in codex.thread_list(limit=100).data]
    assert thread.id in [found.id for found in codex.thread_list(archived=True, limit=100).data]
    assert codex.thread_unarchive(thread.id).id == thread.id


def test_the_same_message_sent_twice_is_one_turn(served: Assistant) -> None:
    with served.client() as client:
        thread = client.thread_start().thread.id
        asked: JsonObject = {"clientUserMessageId": "mine"}
        turn = client.turn_start(thread, "hello", asked).turn.id
        until_completed(client, turn)
        again = client.turn_start(thread, "hello", asked).turn
        assert (again.id, again.status) == (turn, TurnStatus.completed)
        (read,) = client.thread_read(thread, include_turns=True).thread.turns
        assert read.items[0].root.client_id == "mine"  # type: ignore[union-attr]  # the message


def test_the_sdk_starts_the_server_where_none_runs(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", FILES)
    try:
        with Codex(CodexConfig(codex_bin=CPL, cwd=str(repo))) as codex:
            assert "colours.py" in str(codex.thread_start().run("colour").final_response)
    finally:
        assert cpl("down", "--repo", str(repo)).returncode == 0
