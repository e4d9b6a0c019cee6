"""From an empty repository through a restart: empty pages say what fills them, streams end, sessions go on."""

import re
from pathlib import Path

import pytest

import codeplane.surfaces.web as web
from tests.harness import cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

EMPTY = {
    "/dashboard": "cpl init",
    "/dashboard/approvals": "cpl policy show",
    "/dashboard/tasks?state=CLOSED_FAILED": "cpl init",
    "/dashboard/work": "cpl jobs create",
    "/dashboard/explore": "cpl explore",
    "/dashboard/work?state=FAILED": "No work is failed",
    "/dashboard/changes": "cpl call test.run",
    "/dashboard/activity": "cpl search",
    "/dashboard/activity?text=nothing-like-this": "Nothing fits",
    "/dashboard/trust": "cpl devices pair",
    "/dashboard/repository?q=nothing-like-this": "Nothing was found",
}


@requirement("WEB-04")
def test_a_dashboard_lives_through_a_restart(tmp_path_factory: pytest.TempPathFactory) -> None:
    repo = make_repo(tmp_path_factory.mktemp("again") / "repo")
    server = start(repo)
    visitor = BrowserSession(server).sign_in()
    for path, word in EMPTY.items():
        assert word in visitor.get(path).words, path
    form = visitor.form_token()
    kept = server.workspace.home / "dashboard.json"
    assert kept.stat().st_mode & 0o077 == 0 and visitor.cookie.partition("=")[2] not in kept.read_text()
    with visitor.stream("/dashboard/activity/live?operation=git.log") as events:
        server.call("git.log", limit=1)
        seen = next(event for event in events if "data" in event)
        assert server.stop() == 0
        assert list(events) == []
    visitor.server = server = start(repo)
    try:
        assert visitor.get("/dashboard").status == 200 and visitor.form_token() == form
        server.call("git.log", limit=2)
        with visitor.stream("/dashboard/activity/live?operation=git.log", {"last-event-id": seen["id"]}) as events:
            # What waits is looked at again first: the page may have been cut off while it did.
            assert next(events)["retry"] and next(events)["event"] == "approvals"
            assert "limit=2" in next(event for event in events if "data" in event)["data"]
    finally:
        server.stop()


@requirement("CLI-23")
def test_every_command_that_a_page_names_exists() -> None:
    templates = Path(web.__file__).parent / "templates"
    named = {one for path in templates.rglob("*.html") for one in re.findall(r"'(cpl [^'\"]+)'", path.read_text())}
    assert len(named) > 5
    for command in sorted(named):
        words = [word for word in command.split()[1:] if re.fullmatch(r"[a-z][a-z-]*", word)]
        known = words[:1] if words[0] in ("call", "log", "search", "init") else words
        done = cpl(*known, "--help")
        assert done.returncode == 0, f"{command}: {done.stderr}"
