"""Conversations on the dashboard: pages that can be loaded at any moment and show nothing twice."""

from collections.abc import Iterator

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.web.thread_blocks import ThreadBlocks
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import answer, openai_text, scripted_provider

pytestmark = requirement("CHAT-02")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    files = {"greeting.py": 'def greet(name):\n    """Say hello."""\n    return name\n'}
    running = start(make_repo(tmp_path_factory.mktemp("threads") / "repo", files))
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def _newest(server: Server) -> str:
    listed = server.call("thread.list", limit=1)["result"]
    assert isinstance(listed, dict) and isinstance(listed["results"], list) and isinstance(listed["results"][0], dict)
    return str(listed["results"][0]["thread_id"])


def _answered(server: Server, thread_id: str, messages: int) -> bool:
    shown = server.call("thread.show", thread_id=thread_id)["result"]
    assert isinstance(shown, dict)
    return bool(shown["messages"] == messages)


def test_a_conversation_begins_and_goes_on(server: Server, person: BrowserSession) -> None:
    assert person.post("/dashboard/threads", {"text": "where is greet?"}).status == 303
    thread_id = _newest(server)
    until(lambda: _answered(server, thread_id, 2))
    page = person.get(f"/dashboard/threads/{thread_id}")
    assert "where is greet?" in page.words and "greeting.py" in page.words and "from the index" in page.words
    assert person.post(f"/dashboard/threads/{thread_id}", {"verb": "send", "text": "and more"}).status == 303
    until(lambda: _answered(server, thread_id, 4))
    assert "and more" in person.get(f"/dashboard/threads/{thread_id}").words
    assert "where is greet?" in person.get("/dashboard/threads?q=greet").words
    assert "No thread has these words" in person.get("/dashboard/threads?q=absentword").words


def test_what_is_sent_is_checked(server: Server, person: BrowserSession) -> None:
    person.post("/dashboard/threads", {"text": "check"})
    thread_id = _newest(server)
    for wrong in ({}, {"verb": "jump"}, {"verb": "send", "text": ""}):
        assert person.post(f"/dashboard/threads/{thread_id}", wrong).status == 400
    assert person.get("/dashboard/threads/thr_none").status == 404
    assert person.post(f"/dashboard/threads/{thread_id}", {"verb": "archive"}).status == 303
    assert "check" not in person.get("/dashboard/threads").words
    assert "check" in person.get("/dashboard/threads?archived=1").words


_MARKDOWN = """# Found
It is **here**: `greet`.

| file | line |
|---|---|
| greeting.py | 1 |

<script>alert(1)</script> ![x](https://outside.example/leak.png) [go](javascript:alert(1))
"""


def test_an_answer_of_a_model_is_shown_as_markdown_without_what_it_could_load_or_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    repo = make_repo(tmp_path_factory.mktemp("markdown") / "repo", {"greeting.py": "def greet():\n    return 1\n"})
    with scripted_provider(answer(openai_text(_MARKDOWN))) as provider:
        server = start(repo, overrides=[providers(openai("local", provider.url))])
        try:
            person = BrowserSession(server).sign_in()
            person.post("/dashboard/threads", {"text": "# where is **it**?"})
            thread_id = _newest(server)
            until(lambda: _answered(server, thread_id, 2))
            text = person.get(f"/dashboard/threads/{thread_id}").text
        finally:
            server.stop()
    assert (
        "<h1>Found</h1>" in text
        and "<strong>here</strong>: <code>greet</code>" in text
        and "<td>greeting.py</td>" in text
    )
    assert "# where is **it**?" in text
    assert "&lt;script&gt;alert(1)" in text and "<script>alert(1)" not in text
    assert 'src="https://outside.example' not in text and 'href="javascript:' not in text


def _event(sequence: int, kind: str, turn_id: str = "t", **payload: object) -> JsonObject:
    return {"sequence": sequence, "type": kind, "turn_id": turn_id, "payload": payload}  # type: ignore[dict-item]  # plain JSON


EVENTS = [
    _event(1, "message.created", message_id="m1", role="user", content="Do it"),
    _event(2, "turn.queued"),
    _event(3, "turn.started"),
    _event(4, "assistant.text_delta", segment_id="0", delta="Half "),
    _event(5, "turn.resumed", resumed_reason="restart", steps_remaining=3),
    _event(6, "assistant.text_delta", segment_id="0@2", delta="The whole "),
    _event(7, "assistant.text_delta", segment_id="0@2", delta="answer"),
    _event(8, "model.answered", input_tokens=10, output_tokens=5),
    _event(9, "assistant.message_committed", message_id="m2", full_text="The whole answer", metadata={}),
    _event(10, "tool.planned", tool_call_id="c", tool_name="run_bash", args={"command": "ls"}),
    _event(11, "thread.action.created", action_id="act_1", summary="run ls", preview_hash="h"),
    _event(12, "thread.action.approved", action_id="act_1"),
    _event(13, "thread.shell.started", tool_call_id="c", execution_id="e", display_command="ls"),
    _event(14, "thread.shell.output", execution_id="e", chunk="a.txt\n"),
    _event(15, "thread.shell.finished", execution_id="e", exit_code=0, duration_ms=3),
    _event(16, "tool.answered", tool_call_id="c", tool_name="run_bash", status="ok", exit_code=1, duration_ms=0),
    _event(17, "turn.completed", assistant_message_id="m2"),
]


def test_events_that_come_twice_change_nothing() -> None:
    once, twice = ThreadBlocks(), ThreadBlocks()
    for event in EVENTS:
        once.take(event)
    # As after a lost connection: from a few events before.
    for position in (0, 5, 9, 13):
        for event in EVENTS[max(0, position - 3) :]:
            twice.take(event)
    assert once.blocks == twice.blocks and once.running == ""
    said = next(block for block in once.blocks if block.kind == "said")
    assert (said.fields["text"], said.fields["is_open"]) == ("The whole answer", False)
    tool = next(block for block in once.blocks if block.kind == "tool")
    assert [tool.fields[name] for name in ("output", "exit_code", "duration_ms")] == ["a.txt\n", 0, 3]
    action = next(block for block in once.blocks if block.kind == "action")
    assert (action.fields["state"], action.fields["summary"]) == ("APPROVED", "run ls")
    turn = next(block for block in once.blocks if block.kind == "turn")
    assert [turn.fields[name] for name in ("state", "output_tokens", "steps_used")] == ["COMPLETED", 5, 1]


def test_a_running_turn_is_the_one_that_can_be_stopped() -> None:
    blocks = ThreadBlocks()
    for event in EVENTS[:9]:
        blocks.take(event)
    assert blocks.running == "t"


def test_what_was_not_said_to_its_end_is_closed_with_its_turn() -> None:
    blocks = ThreadBlocks()
    for event in EVENTS[:7]:
        blocks.take(event)
    changed = blocks.take(_event(8, "turn.failed", code="CANCELLED", message="stopped"))
    assert [block.kind for block in changed] == ["turn", "said"] and changed[1].fields["is_open"] is False
