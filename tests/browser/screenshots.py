"""Pictures of every page, of a real run, for people to look at: `python -m tests.browser.screenshots FOLDER`."""

import sys
import tempfile
from pathlib import Path

from tests.browser.chromium import browser, signed_in
from tests.browser.scenario import FOUND, play, repository
from tests.harness import Server, start

PAGES = {
    "overview": "/dashboard",
    "activity": "/dashboard/activity",
    "approvals": "/dashboard/approvals",
    "tasks": "/dashboard/tasks",
    "changes": "/dashboard/changes",
    "compare": "/dashboard/changes/compare?base=HEAD~1",
    "repository": "/dashboard/repository",
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
        server = start(repository(Path(made) / "shop"))
        try:
            play(server)
            _take(server, folder, looks)
        finally:
            server.stop()


def _take(server: Server, folder: Path, looks: list[str]) -> None:
    pages = PAGES | {name: address(server) for name, address in FOUND.items()}
    with browser() as chromium:
        for look in looks:
            dark, narrow = "dark" in look, "phone" in look
            page = signed_in(chromium, server, width=380 if narrow else 1280, height=800, dark=dark)
            for name, path in pages.items():
                page.goto(server.url + path)
                page.wait_for_load_state("load")
                page.screenshot(path=folder / f"{name}-{look}.png", full_page=True)
            page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or ["light", "dark", "phone", "phone-dark"])
