"""`cpl ask` and `cpl chat`: answers on stdout, everything else on stderr."""

import io
import json
import os
import pty
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.turn_view import TurnView
from tests.harness import CPL, PATIENCE_SEC, Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    answer,
    chunks,
    hang,
    openai_chunk,
    openai_text,
    openai_tool,
    scripted_provider,
)

pytestmark = requirement("CHAT-01")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A repository with a server and no model."""
    files = {"greeting.py": 'def greet(name):\n    """Say hello to somebody."""\n    return name\n'}
    running = start(make_repo(tmp_path_factory.mktemp("served") / "repo", files))
    yield running
    running.stop()


def test_one_question_is_answered_on_stdout(served: Server) -> None:
    done = cpl("ask", "where is", "hello said to somebody?", cwd=served.repo)
    assert done.returncode == 0 and "greeting.py" in done.stdout and "No model is configured" in done.stdout
    assert "greeting.py" not in done.stderr


def test_a_question_comes_from_stdin_and_goes_on_in_a_thread(served: Server) -> None:
    first = cpl("ask", "-", cwd=served.repo, stdin="greet")
    assert first.returncode == 0
    second = cpl("ask", "--continue", "greet again", cwd=served.repo)
    assert second.returncode == 0
    listed = served.call("thread.list")["result"]
    assert isinstance(listed, dict) and isinstance(listed["results"], list)
    newest = listed["results"][0]
    assert isinstance(newest, dict) and (newest["title"], newest["messages"]) == ("greet", 4)


def test_json_prints_every_event_of_the_turn(served: Server) -> None:
    done = cpl("ask", "--json", "greet", cwd=served.repo)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["sequence"] for event in events] == [*range(2, 2 + len(events))]
    assert events[-1]["type"] == "turn.completed"


def test_a_chat_answers_line_after_line(served: Server) -> None:
    done = cpl("chat", cwd=served.repo, stdin="greet\n/help\nnothing of that kind\n")
    assert done.returncode == 0 and done.stdout.count("No model is configured") == 2
    assert "thr_" in done.stderr and "/undo" in done.stderr


def test_what_cannot_be_asked_says_what_to_type(served: Server) -> None:
    empty = cpl("ask", "", cwd=served.repo, stdin="")
    assert empty.returncode == 2 and "hint: cpl ask" in empty.stderr
    unknown = cpl("ask", "--thread", "thr_unknown", "x", cwd=served.repo)
    assert unknown.returncode == 1 and "THREAD_NOT_FOUND" in unknown.stderr


def test_a_server_is_started_where_none_runs(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"a.py": "def greet():\n    pass\n"})
    done = cpl("ask", "greet", cwd=repo)
    assert done.returncode == 0 and "a.py" in done.stdout
    assert cpl("down", cwd=repo).returncode == 0


EDIT: JsonObject = {
    "edits": [{"path": "greeting.py", "old_text": "    return name", "new_text": "    return f'hello {name}'"}]
}


def test_what_a_tool_changes_is_shown_as_a_diff(tmp_path: Path) -> None:
    script = answer(openai_tool("c", "write_files", EDIT, "I greet. ")), answer(openai_text("Done."))
    repo = make_repo(tmp_path / "repo", {"greeting.py": "def greet(name):\n    return name\n"})
    with scripted_provider(*script) as provider:
        server = start(repo, overrides=[providers(openai("local", provider.url))])
        try:
            done = cpl("chat", cwd=repo, stdin="greet them\n")
            assert done.returncode == 0 and done.stdout == "I greet. \nDone.\n"
            changed = (
                "  M greeting.py\n@@ -1,2 +1,2 @@\n def greet(name):\n-    return name\n+    return f'hello {name}'\n"
            )
            assert changed in done.stderr
        finally:
            server.stop()


def test_a_long_diff_is_cut_and_says_so() -> None:
    view = TurnView(out=io.StringIO(), aside=io.StringIO())
    diff = "--- a\n+++ a\n@@ -0,0 +1,90 @@\n" + "".join(f"+line {number}\x1b\n" for number in range(90))
    files: list[JsonValue] = [{"path": "a", "old_path": "b", "action": "moved", "note": "", "diff": diff}]
    view.show_change({"mutation_id": "mut_1", "files": files, "pagination": {"next_cursor": None}})
    shown = view.aside.getvalue().splitlines()  # type: ignore[attr-defined]  # made above
    assert shown[:3] == ["  R b → a", "@@ -0,0 +1,90 @@", "+line 0\\x1b"]
    assert (len(shown), shown[-1]) == (61, "  … all of it: cpl call mutation.show mutation_id=mut_1")


def test_a_question_goes_on_when_the_server_is_killed_and_comes_back_elsewhere(tmp_path: Path) -> None:
    script = hang(chunks(openai_chunk({"content": "Half of it "}))), answer(openai_text("The whole of it."))
    repo = make_repo(tmp_path / "repo")
    with scripted_provider(*script) as provider:
        overrides = [providers(openai("local", provider.url))]
        server = start(repo, overrides=overrides)
        command = [CPL, "ask", "--json", "tell me"]
        with subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, text=True) as asking:
            assert asking.stdout is not None
            events = []
            for line in asking.stdout:
                events.append(json.loads(line))
                if events[-1]["type"] == "assistant.text_delta" and len(provider.requests) == 1:
                    server.kill()
                    server = start(repo, overrides=overrides)
        try:
            assert asking.returncode == 0
            assert [event["sequence"] for event in events] == [*range(2, 2 + len(events))]
            said = [event["payload"]["full_text"] for event in events if "full_text" in event["payload"]]
            assert (said, events[-1]["type"]) == (["The whole of it."], "turn.completed")
        finally:
            server.stop()


def at_terminal(*arguments: str, cwd: Path, typed: str) -> str:
    """Run `cpl` at a terminal of its own, and return everything that it shows."""
    keyboard, screen = pty.openpty()
    process = subprocess.Popen([CPL, *arguments], cwd=cwd, stdin=screen, stdout=screen, stderr=screen)
    os.close(screen)
    os.write(keyboard, typed.encode())
    shown = b""
    # The terminal is gone with the last program at it.
    with suppress(OSError):
        while chunk := os.read(keyboard, 65_536):
            shown += chunk
    os.close(keyboard)
    assert process.wait(PATIENCE_SEC) == 0
    return shown.decode().replace("\r\n", "\n")


def _event(kind: str, **payload: object) -> JsonObject:
    return {"type": kind, "payload": payload}  # type: ignore[dict-item]  # plain JSON


class Terminal:
    """A person at a terminal who types when something is shown."""

    def __init__(self, *arguments: str, cwd: Path) -> None:
        self._keyboard, screen = pty.openpty()
        self.process = subprocess.Popen([CPL, *arguments], cwd=cwd, stdin=screen, stdout=screen, stderr=screen)
        os.close(screen)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read until this is shown, after what was waited for before."""
        while text not in self.shown:
            assert select.select([self._keyboard], [], [], PATIENCE_SEC)[0], self.shown
            self.shown += os.read(self._keyboard, 65_536).decode()
        self.shown = self.shown.partition(text)[2]

    def type(self, line: str) -> None:
        os.write(self._keyboard, f"{line}\n".encode())

    def close(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait(PATIENCE_SEC)
        os.close(self._keyboard)


def test_a_person_approves_in_the_chat_and_stops_a_turn_with_ctrl_c(tmp_path: Path) -> None:
    script = (
        answer(openai_tool("c", "run_bash", {"command": "echo from the shell"})),
        answer(openai_text("It is done.")),
        hang(chunks(openai_chunk({"content": "Half of an answer"}))),
    )
    repo = make_repo(tmp_path / "repo")
    with scripted_provider(*script) as provider:
        server = start(repo, overrides=[providers(openai("local", provider.url))])
        created = server.call("thread.create", toolset="core,run_bash")["result"]
        assert isinstance(created, dict)
        terminal = Terminal("chat", "--thread", str(created["thread_id"]), cwd=repo)
        try:
            terminal.wait_for("/help")
            terminal.type("run it")
            terminal.wait_for("run echo from the shell")
            terminal.wait_for("[l]ater:")
            terminal.type("y")
            terminal.wait_for("from the shell")
            terminal.wait_for("It is done.")
            terminal.type("go on")
            terminal.wait_for("Half of an")
            terminal.process.send_signal(signal.SIGINT)
            terminal.wait_for("stopped")
            terminal.type("/cost")
            terminal.wait_for("CANCELLED")
            terminal.type("/quit")
            assert terminal.process.wait(PATIENCE_SEC) == 0
        finally:
            terminal.close()
            server.stop()


def test_text_is_printed_once_however_it_comes() -> None:
    view = TurnView(out=io.StringIO(), aside=io.StringIO())
    view.show(_event("assistant.text_delta", segment_id="0", delta="Half of "))
    view.show(_event("tool.started", display_command="search x"))
    view.show(_event("assistant.text_delta", segment_id="0@2", delta="The whole "))
    view.show(_event("assistant.message_committed", full_text="The whole answer."))
    view.show(_event("assistant.message_committed", full_text="Without deltas."))
    view.show(_event("turn.failed", code="CANCELLED", message="stopped"))
    assert view.out.getvalue() == "Half of \nThe whole answer.\nWithout deltas.\n"  # type: ignore[attr-defined]  # StringIO
    aside = view.aside.getvalue()  # type: ignore[attr-defined]  # StringIO
    assert "· search x" in aside and "again from the beginning" in aside
    assert (view.answer, view.failure) == ("Without deltas.", "CANCELLED: stopped")


def test_text_that_is_broken_off_ends_its_line() -> None:
    out = io.StringIO()
    view = TurnView(out=out, aside=out)
    view.show(_event("assistant.text_delta", segment_id="0", delta="I look."))
    view.show(_event("model.repair_attempted", problem="no such tool"))
    view.show(_event("assistant.text_delta", segment_id="0r1", delta="I look again."))
    view.show(_event("turn.failed", code="FAILED_MODEL_OUTPUT", message="no such tool"))
    assert out.getvalue() == "I look.\n  asking again: no such tool\nI look again.\n"


def test_a_chat_goes_on_at_a_terminal_that_obeys_nothing_of_what_was_said(served: Server) -> None:
    assert cpl("ask", "greet \x1b]0;owned\x07", cwd=served.repo).returncode == 0
    shown = at_terminal("chat", "--continue", cwd=served.repo, typed="/undo\n/show\n/quit\n")
    assert "\\x1b]0;owned\\x07" in shown and "\x1b]0;owned" not in shown
    # The last turn is the one before: it changed nothing.
    assert "> there was nothing to take back\n" in shown and "error" not in shown
    fresh = at_terminal("chat", cwd=served.repo, typed="/undo\n/quit\n")
    assert "there is no turn in this thread yet" in fresh
