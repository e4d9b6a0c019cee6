"""A real Chromium, driven by Playwright; tests that need it say loudly when it is not there."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.harness import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

PATIENCE_MS = 180_000
WIDTH, HEIGHT = 1280, 800
NAMES = ("chromium", "chromium-browser", "google-chrome")


def missing_browser() -> str | None:
    """Why there is no browser to test with, if there is none."""
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "the dashboard is NOT tested in a browser: playwright is not installed (make dev)"
    if program() is None:
        return "the dashboard is NOT tested in a browser: no Chromium is on the path (apt-get install chromium)"
    return None


def program() -> str | None:
    """Where Chromium is."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def browser() -> "Iterator[Browser]":
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Its own sandbox needs rights that containers do not give; the pages are ours.
        found = playwright.chromium.launch(executable_path=program(), args=["--no-sandbox", "--disable-gpu"])
        try:
            yield found
        finally:
            found.close()


def link(server: Server, through: str | None = None) -> str:
    """A fresh link of the owner's."""
    result = server.call("dashboard.link")["result"]
    assert isinstance(result, dict)
    return f"{through or server.url}{result['path']}"


def signed_in_page(
    chromium: "Browser",
    server: Server,
    *,
    width: int = WIDTH,
    height: int = HEIGHT,
    dark: bool = False,
    through: str | None = None,
) -> "Page":
    """A page of a browser of its own that has come in by a link; `through` is where it reaches the server instead."""
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", locale="en-GB"
    )
    # How long an event takes to come is the machine's affair; that it comes is what is tested.
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(link(server, through))
    page.wait_for_url("**/dashboard")
    return page


@contextmanager
def watch_page(page: "Page", server: Server) -> "Iterator[Page]":
    """A page for a while; what it complains of meanwhile, what it asks of others, and dialogs are failures."""
    complaints: list[str] = []
    elsewhere: list[str] = []

    def refuse(dialog: "Dialog") -> None:
        complaints.append(f"a script ran: {dialog.message}")
        dialog.dismiss()

    listeners: dict[str, Callable[..., None]] = {
        "console": lambda output: complaints.append(output.text) if output.type in ("error", "warning") else None,
        "pageerror": lambda error: complaints.append(str(error)),
        "dialog": refuse,
        "request": lambda asked: elsewhere.append(asked.url) if not asked.url.startswith(server.url) else None,
    }
    for event, listener in listeners.items():
        page.on(event, listener)  # type: ignore[call-overload]  # one signature for each event
    yield page
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    assert complaints == [] and elsewhere == []
