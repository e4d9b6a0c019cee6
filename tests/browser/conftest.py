"""One Chromium and one server with a morning's work behind it, which these tests share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import browser, missing_browser, signed_in_page, watch_page
from tests.browser.scenario import play, repository, start_server
from tests.harness import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


# Playwright's own event loop runs as long as it does, and nothing else in the process could run one meanwhile.
@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    """A real browser, or a loud skip."""
    if reason := missing_browser():
        pytest.skip(f"NOT TESTED: {reason}")
    with browser() as found:
        yield found


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in whose repository an agent has worked."""
    running = start_server(repository(tmp_path_factory.mktemp("browser") / "shop"))
    play(running)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def owner(chromium: "Browser", shop: Server) -> "Iterator[BrowserContext]":
    """A browser of somebody who is signed in, without a page: one that stays open would be told of everything."""
    opened = signed_in_page(chromium, shop)
    opened.close()
    yield opened.context
    opened.context.close()


@pytest.fixture
def page(owner: "BrowserContext", shop: Server) -> "Iterator[Page]":
    """A page of the owner's; whatever it complains of fails the test."""
    opened = owner.new_page()
    with watch_page(opened, shop):
        yield opened
        opened.close()
