"""A conversation in a real browser: ask, watch the answer, decide, stop, and a restart in the middle."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codeplane.kernel.json import JsonObject
from tests.browser.chromium import signed_in_page
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    DONE,
    Act,
    ScriptedProvider,
    answer,
    chunks,
    hang,
    openai_chunk,
    openai_text,
    scripted_provider,
)

pytestmark = requirement("CHAT-02")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# Where pictures of what these tests see go, for people; none are taken without it.
_PICTURES = os.environ.get("CODEPLANE_PICTURES", "")


def _tool(name: str, tool_call_id: str, arguments: JsonObject) -> list[bytes]:
    call = {"index": 0, "id": tool_call_id, "type": "function"}
    function = {"name": name, "arguments": json.dumps(arguments)}
    return chunks(
        openai_chunk({"content": "Let me see. "}),
        openai_chunk({"tool_calls": [{**call, "function": function}]}),  # type: ignore[dict-item]  # plain JSON
        openai_chunk(finish="tool_calls"),
        DONE,
    )


_EDIT: JsonObject = {"edits": [{"path": "greeting.py", "old_text": "    return 1", "new_text": "    return 2"}]}


def _script() -> list[Act]:
    return [
        answer(_tool("search", "c1", {"query": "hello"})),
        answer(_tool("write_files", "c3", _EDIT)),
        answer(_tool("run_bash", "c2", {"command": "echo from the shell"})),
        answer(openai_text("The folder ", "is fine.")),
        hang(chunks(openai_chunk({"content": "Half of an answer "}))),
    ]


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with scripted_provider(*_script()) as running:
        yield running


@pytest.fixture
def serving(tmp_path_factory: pytest.TempPathFactory, provider: ScriptedProvider) -> Iterator[list[Server]]:
    """A server that the test may end and start again; the last one is ended here."""
    repo = make_repo(tmp_path_factory.mktemp("chat") / "repo", {"greeting.py": "def hello():\n    return 1\n"})
    running = [start(repo, overrides=[providers(openai("local", provider.url))])]
    yield running
    running[-1].stop()


def _begin(server: Server) -> str:
    """A thread whose turns may run commands."""
    created = server.call("thread.create", toolset="core,run_bash", title="From a browser")["result"]
    assert isinstance(created, dict)
    return f"/dashboard/threads/{created['thread_id']}"


def _send(page: "Page", text: str, mode: str = "") -> None:
    page.locator("textarea[name=text]").fill(text)
    if mode:
        page.locator("select[name=queue_mode]").select_option(mode)
    page.get_by_role("button", name="Send").click()


def _picture(page: "Page", name: str) -> None:
    if _PICTURES:
        page.screenshot(path=Path(_PICTURES) / f"{name}.png", full_page=True)


def test_ask_watch_decide_stop_and_go_on(chromium: "Browser", serving: list[Server]) -> None:
    (server,) = serving
    path = _begin(server)
    page = signed_in_page(chromium, server)
    page.goto(server.url + path)
    _send(page, "Have a look")
    tools = page.locator(".block.tool")
    tools.filter(has_text="search").first.wait_for()
    page.get_by_role("button", name="Approve once").wait_for()
    _picture(page, "thread-asks")
    page.get_by_role("button", name="Approve once").click()
    page.get_by_text("The folder is fine.").wait_for()
    page.locator(".block.turn", has_text="completed").wait_for()
    assert page.get_by_text("The folder is fine.").count() == 1
    edit = tools.filter(has_text="write_files")
    edit.locator(".diff tr.changed").wait_for()
    assert [cell.inner_text() for cell in edit.locator(".diff tr.changed td").all()] == [
        "2", "    return 1", "2", "    return 2",
    ]  # fmt: skip
    tools.filter(has_text="run_bash").locator("summary").click()
    assert "3 of 24 tool steps" in page.locator(".block.turn").inner_text()
    assert "from the shell" in tools.filter(has_text="run_bash").inner_text()
    _picture(page, "thread-done")
    _send(page, "And now?")
    page.get_by_text("Half of an answer").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".block.turn", has_text="CANCELLED").wait_for()
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    _picture(page, "thread-phone")


def test_a_turn_that_runs_is_steered_and_others_wait_or_are_refused(
    chromium: "Browser", serving: list[Server], provider: ScriptedProvider
) -> None:
    (server,) = serving
    provider.script[:] = [
        hang(chunks(openai_chunk({"content": "The wrong way "}))),
        hang(chunks(openai_chunk({"content": "The right way "}))),
        answer(openai_text("And the rest.")),
    ]
    page = signed_in_page(chromium, server)
    page.goto(server.url + _begin(server))
    _send(page, "Go")
    page.get_by_text("The wrong way").wait_for()
    _send(page, "Rather the other way", "INTERRUPT_AFTER_CURRENT_TOOL")
    page.locator(".block.turn", has_text="INTERRUPTED").wait_for()
    page.get_by_text("The right way").wait_for()
    _send(page, "Then the rest", "QUEUE_AFTER_TURN")
    page.locator(".block.turn", has_text="queued").wait_for()
    _picture(page, "thread-queued")
    _send(page, "No place for this", "REJECT_IF_BUSY")
    page.get_by_text("THREAD_BUSY").wait_for()
    page.go_back()
    page.locator(".block.turn", has_text="running").get_by_role("button", name="Stop").click()
    page.get_by_text("And the rest.").wait_for()
    page.locator(".block.turn", has_text="completed").wait_for()

    asked = [text.splitlines()[-1] for text in page.locator(".block.message.user").all_inner_texts()]
    assert asked == ["Go", "Rather the other way", "Then the rest"]


def test_a_restart_in_the_middle_doubles_nothing(
    chromium: "Browser", serving: list[Server], provider: ScriptedProvider
) -> None:
    (server,) = serving
    provider.script[:] = [
        hang(chunks(openai_chunk({"content": "Half of an answer "}))),
        answer(openai_text("The whole answer ", "at last.")),
    ]
    page = signed_in_page(chromium, server)
    page.goto(server.url + _begin(server))
    _send(page, "Tell me")
    page.get_by_text("Half of an answer").wait_for()
    server.kill()
    page.get_by_text("The connection to the server is gone").wait_for()

    def restarted() -> Server | None:
        overrides = [f"server.port={server.port}", providers(openai("local", provider.url))]
        try:
            return start(server.repo, overrides=overrides)
        except RuntimeError:
            return None

    again = until(restarted)
    assert again is not None
    serving.append(again)
    page.get_by_text("The whole answer at last.").wait_for()
    page.locator(".block.turn", has_text="completed").wait_for()
    assert page.get_by_text("The whole answer at last.").count() == 1
    assert page.get_by_text("Half of an answer").count() == 0
    assert page.locator(".block.message.user").count() == 1
