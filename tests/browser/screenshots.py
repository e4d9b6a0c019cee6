"""Pictures of every page, of a real run, for people to look at: `python -m tests.browser.screenshots FOLDER`."""

import sys
import tempfile
from pathlib import Path

from tests.browser.chromium import browser, signed_in_page
from tests.browser.scenario import FOUND, look_again, play, repository, running_command, start_server
from tests.harness import Server

PAGES = {
    "overview": "/dashboard",
    "activity": "/dashboard/activity",
    "approvals": "/dashboard/approvals",
    "tasks": "/dashboard/tasks",
    "work": "/dashboard/work",
    "explore": "/dashboard/explore",
    "schedules": "/dashboard/schedules",
    "tools": "/dashboard/tools",
    "skills": "/dashboard/skills",
    "artifacts": "/dashboard/artifacts",
    "changes": "/dashboard/changes",
    "compare": "/dashboard/changes/compare?base=HEAD~1",
    "tests": "/dashboard/changes/tests",
    "repository": "/dashboard/repository",
    "languages": "/dashboard/repository?by=language",
    "search": "/dashboard/repository?q=rate&mode=literal",
    "file": "/dashboard/repository/file?path=shop%2Fprice.py&line=11",
    "symbol": "/dashboard/repository/symbol?name=gross",
    "ledger": "/dashboard/ledger",
    "trust": "/dashboard/trust",
    "settings": "/dashboard/settings",
}


def main(folder: Path, looks: list[str]) -> None:
    """Play a morning and take a picture of every page, in light and dark, wide and narrow."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        server = start_server(repository(Path(made) / "shop", odd=False))
        try:
            play(server, odd=False)
            _leave_work(server)
            _take(server, folder, looks)
        finally:
            server.stop()


def _leave_work(server: Server) -> None:
    """Have jobs, schedules, skills, proposals and artifacts for their pages."""
    folder = server.repo / ".agents" / "skills" / "review"
    folder.mkdir(parents=True)
    text = "---\nname: review\ndescription: Reviews a change as this shop does.\n---\nLook at prices twice.\n"
    (folder / "SKILL.md").write_text(text)
    report = "# Prices\n\nAll of them are gross.\n"
    calls: tuple[tuple[str, dict[str, object]], ...] = (
        ("job.create", {"goal": "Find where prices are rounded, and say what breaks"}),
        ("schedule.create", {"name": "nightly look", "goal": "Look for failing tests", "trigger_kind": "cron",
                             "trigger_spec": "0 3 * * *", "timezone": "Europe/Berlin"}),
        ("schedule.create", {"name": "heartbeat", "goal": "Is anything broken?", "trigger_kind": "interval",
                             "trigger_spec": "PT30M", "heartbeat": True}),
        ("artifact.put", {"name": "prices.md", "description": "what the prices are", "text": report}),
        ("artifact.put", {"name": "rounding.diff", "text": "--- a/price.py\n+++ b/price.py\n@@ -1 +1 @@\n-1\n+2\n"}),
        ("proposal.create", {"kind": "skill", "title": "A skill for releases", "name": "release",
                             "rationale": "we do it each week",
                             "content": "---\nname: release\ndescription: Makes a release.\n---\nTag it.\n"}),
    )  # fmt: skip
    for operation, arguments in calls:
        made = server.call(operation, **arguments)
        assert "result" in made, made


def _take(server: Server, folder: Path, looks: list[str]) -> None:
    pages = PAGES | {name: address(server) for name, address in FOUND.items()}
    with running_command(server), browser() as chromium:
        look_again(server)
        for look in looks:
            dark, narrow = "dark" in look, "phone" in look
            page = signed_in_page(chromium, server, width=380 if narrow else 1280, height=800, dark=dark)
            for name, path in pages.items():
                page.goto(server.url + path)
                page.wait_for_load_state("load")
                page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
            page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["light", "dark", "phone", "phone-dark"])
