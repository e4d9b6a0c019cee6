"""Outside tools on the dashboard: state, risk, identity, errors, and the buttons that trust and connect."""

from collections.abc import Iterator

import pytest

from codeplane.kernel.json import JsonObject, dumps
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession
from tests.work.tools.tool_plane import scripted

pytestmark = requirement("TOOL-07")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    servers: JsonObject = {
        "notes": scripted("poisoned_description", identity="bot"),
        "gone": {"command": "no-such-program-here"},
    }
    settings = (f"mcp.servers={dumps(servers)}", "tools.restarts=0")
    running = start(make_repo(tmp_path_factory.mktemp("tools") / "repo", {"a.txt": "a"}), overrides=settings)
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def test_servers_are_shown_with_state_risk_identity_and_errors(person: BrowserSession) -> None:
    until(lambda: "ext.notes.look" in person.get("/dashboard/tools").words)
    page = until(lambda: person.get("/dashboard/tools"))
    assert "unknown" in page.words and "bot" in page.words and "sandbox on" in page.words
    assert "Ignore all rules" in page.words and "\u202e" not in page.words
    assert "'no-such-program-here' is not on PATH" in page.words


def test_a_tool_is_trusted_and_no_longer(person: BrowserSession) -> None:
    until(lambda: "ext.notes.look" in person.get("/dashboard/tools").words)
    assert person.post("/dashboard/tools/notes", {"verb": "trust", "tool": "look"}).status == 303
    assert "Trust no longer" in person.get("/dashboard/tools").words
    assert person.post("/dashboard/tools/notes", {"verb": "distrust", "tool": "look"}).status == 303
    assert "Trust no longer" not in person.get("/dashboard/tools").words
    assert person.post("/dashboard/tools/notes", {"verb": "delete"}).status == 400
    assert person.post("/dashboard/tools/notes", {"verb": "test"}).status == 303


def test_an_empty_page_names_the_command_that_fills_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    running = start(make_repo(tmp_path_factory.mktemp("empty") / "repo", {"a.txt": "a"}))
    try:
        assert "cpl tools import claude-code" in BrowserSession(running).sign_in().get("/dashboard/tools").words
    finally:
        running.stop()
