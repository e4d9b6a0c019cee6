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
            _take(server, folder, looks)
        finally:
            server.stop()


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
