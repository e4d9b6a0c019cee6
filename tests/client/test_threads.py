"""Conversations through the Python client: records, streams that go on after a lost server, and their ends."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeplane.client import Client, Reconnection, ThreadEvent, ThreadStream, TurnBudget
from codeplane.kernel.errors import (
    IdempotencyConflict,
    ServerUnreachable,
    StreamGap,
    ThreadNotFound,
    TurnNotFound,
    Unauthorized,
)
from tests.client.cut_proxy import cut_proxy
from tests.harness import PATIENCE_SEC, Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    ScriptedProvider,
    answer,
    chunks,
    hang,
    openai_chunk,
    openai_text,
    scripted_provider,
)

pytestmark = requirement("RPC-21")

# As long as a busy machine may take for a restart, in small steps.
PATIENT = Reconnection(tries=10_000, first_sec=0.01, most_sec=0.02)
IMPATIENT = Reconnection(tries=2, first_sec=0.001)
ALL = 1 << 30


def client(server: Server, *, port: int = 0, reconnection: Reconnection | None = None) -> Client:
    return Client(server.host, port or server.port, token=server.token, reconnection=reconnection)


def sequences(events: list[ThreadEvent]) -> list[int]:
    return [event.sequence for event in events]


def read_turn(stream: ThreadStream) -> list[ThreadEvent]:
    """The events up to the end of a turn."""
    events = [next(stream)]
    while not events[-1].ends_turn:
        events.append(next(stream))
    return events


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    script = hang(chunks(openai_chunk({"content": "Half of it "}))), answer(openai_text("The whole ", "of it."))
    with scripted_provider(*script) as running:
        yield running


@pytest.fixture
def serving(tmp_path_factory: pytest.TempPathFactory, provider: ScriptedProvider) -> Iterator[list[Server]]:
    """A server with a model; the test may end it and start another, which is ended here."""
    repo = make_repo(tmp_path_factory.mktemp("thread-client") / "repo")
    running = [start(repo, overrides=[providers(openai("local", provider.url))])]
    yield running
    running[-1].stop()


def restart(serving: list[Server], provider: ScriptedProvider) -> None:
    """Start the server again on the same port."""
    before = serving[-1]
    overrides = [f"server.port={before.port}", providers(openai("local", provider.url))]

    def restarted() -> Server | None:
        try:
            return start(before.repo, overrides=overrides)
        except RuntimeError:
            return None

    again = until(restarted)
    assert again is not None
    serving.append(again)


class TestCalls:
    def test_send_list_show_and_cancel(self, connect_server: Server) -> None:
        caller = client(connect_server)
        thread_id = caller.create_thread(title="About greeting", idempotency_key="one-thread")
        assert caller.create_thread(title="About greeting", idempotency_key="one-thread") == thread_id
        sent = caller.send(thread_id, "greet", wait_sec=60, client_message_id="m", budget=TurnBudget(max_tool_steps=3))
        assert sent.status == "COMPLETED" and "No model is configured" in sent.answer
        again = caller.send(thread_id, "greet", wait_sec=60, client_message_id="m", budget=TurnBudget(max_tool_steps=3))
        assert again.turn_id == sent.turn_id
        with pytest.raises(IdempotencyConflict):
            caller.send(thread_id, "something else", client_message_id="m")
        shown = caller.thread(thread_id)
        assert (shown.title, shown.last_sequence, shown.has_older) == ("About greeting", sent.last_sequence, False)
        assert [message.role for message in shown.messages] == ["user", "assistant"]
        assert shown.messages[1].content == sent.answer and shown.messages[1].metadata["answered_by"] == "index"
        assert tuple(caller.messages(thread_id, page_size=1)) == shown.messages[::-1]
        (listed,) = [found for found in caller.threads(query="greeting", page_size=1) if found.thread_id == thread_id]
        assert (listed.messages, listed.archived) == (2, False)
        ended = caller.cancel_turn(sent.turn_id)
        assert (ended.turn_id, ended.status) == (sent.turn_id, "COMPLETED")

    def test_what_is_not_there(self, connect_server: Server) -> None:
        caller = client(connect_server)
        with pytest.raises(ThreadNotFound):
            caller.thread("thr_none")
        with pytest.raises(ThreadNotFound):
            next(caller.watch_thread("thr_none"))
        with pytest.raises(ThreadNotFound):
            next(caller.start_turn("thr_none", "greet"))
        with pytest.raises(TurnNotFound):
            caller.cancel_turn("turn_none")

    def test_a_wrong_token_is_not_tried_again(self, connect_server: Server) -> None:
        with cut_proxy(connect_server, lambda number: ALL) as proxy:
            stranger = Client(connect_server.host, proxy.port, token="wrong", reconnection=PATIENT)
            with pytest.raises(Unauthorized):
                next(stranger.watch_thread("thr_none"))
        assert proxy.connections == 1


class TestStreams:
    def test_a_turn_ends_with_its_stream_and_a_watch_sees_the_same(self, connect_server: Server) -> None:
        caller = client(connect_server)
        thread_id = caller.create_thread()
        events = list(caller.start_turn(thread_id, "greet"))
        assert sequences(events) == [*range(2, 2 + len(events))]
        assert events[-1].ends_turn and events[-1].type == "turn.completed"
        (text,) = [event.full_text for event in events if event.full_text]
        assert text == caller.thread(thread_id).messages[-1].content
        with caller.watch_thread(thread_id, events[0].sequence) as watched:
            assert [next(watched) for _ in events[1:]] == events[1:]
            assert watched.last_sequence == events[-1].sequence
        assert list(watched) == []

    def test_the_same_message_attaches_to_its_turn(self, connect_server: Server) -> None:
        caller = client(connect_server)
        thread_id = caller.create_thread()
        events = list(caller.start_turn(thread_id, "greet", client_message_id="m"))
        assert list(caller.start_turn(thread_id, "greet", client_message_id="m")) == events

    def test_events_that_are_gone_raise(self, connect_server: Server) -> None:
        caller = client(connect_server)
        with pytest.raises(StreamGap) as raised:
            next(caller.watch_thread(caller.create_thread(), 7))
        assert raised.value.details == {"requested_after": 7, "first_available": 1}

    def test_close_from_another_thread_ends_a_waiting_reader(self, connect_server: Server) -> None:
        caller = client(connect_server)
        stream = caller.watch_thread(caller.create_thread())
        assert next(stream).type == "thread.created"
        with ThreadPoolExecutor(1) as pool:
            rest = pool.submit(list, stream)
            stream.close()
            assert rest.result(PATIENCE_SEC) == []


class TestLostConnections:
    # Cut anywhere: in the headers, in the head of a frame, in a frame, and after the last event.
    @pytest.mark.parametrize("step", [97, 331, 1009])
    def test_cuts_anywhere_lose_and_repeat_nothing(self, connect_server: Server, step: int) -> None:
        thread_id = client(connect_server).create_thread()
        with cut_proxy(connect_server, lambda number: step * (1 + number % 60)) as proxy:
            cut = client(connect_server, port=proxy.port, reconnection=PATIENT)
            events = list(cut.start_turn(thread_id, "greet"))
            assert proxy.connections > 1
            with cut.watch_thread(thread_id) as watched:
                seen = [next(watched) for _ in range(events[-1].sequence)]
        direct = client(connect_server).watch_thread(thread_id)
        assert seen == [next(direct) for _ in seen] and seen[1:] == events
        direct.close()
        assert len(client(connect_server).thread(thread_id).messages) == 2

    @pytest.mark.parametrize("end", [Server.kill, Server.stop], ids=["killed", "stopped"])
    def test_a_turn_goes_on_over_a_restart(
        self, serving: list[Server], provider: ScriptedProvider, end: Callable[[Server], object]
    ) -> None:
        caller = client(serving[0], reconnection=PATIENT)
        thread_id = caller.create_thread()
        with ThreadPoolExecutor(2) as pool, caller.watch_thread(thread_id) as watched:
            stream = caller.start_turn(thread_id, "Tell me")
            events = [next(stream)]
            while not events[-1].text_delta:
                events.append(next(stream))
            rest = pool.submit(list, stream)
            seen = pool.submit(read_turn, watched)
            end(serving[0])
            restart(serving, provider)
            events += rest.result(PATIENCE_SEC)
            assert seen.result(PATIENCE_SEC)[1:] == events
        assert sequences(events) == [*range(2, 2 + len(events))]
        assert len({event.event_id for event in events}) == len(events)
        assert events[-1].type == "turn.completed"
        assert [event.full_text for event in events if event.full_text] == ["The whole of it."]
        deltas = {event.segment_id: "" for event in events if event.text_delta}
        for event in events:
            if event.text_delta:
                deltas[event.segment_id] += event.text_delta
        assert list(deltas.values()) == ["Half of it ", "The whole of it."]
        assert [message.role for message in caller.thread(thread_id).messages] == ["user", "assistant"]

    def test_a_server_that_stays_away_raises_with_the_place_to_go_on(self, serving: list[Server]) -> None:
        caller = client(serving[0], reconnection=IMPATIENT)
        thread_id = caller.create_thread()
        stream = caller.watch_thread(thread_id)
        next(stream)
        serving[0].kill()
        with pytest.raises(ServerUnreachable) as raised:
            next(stream)
        assert raised.value.details == {"thread_id": thread_id, "last_sequence": 1}
        assert "3 times" in raised.value.message and "from_sequence=1" in raised.value.hint
