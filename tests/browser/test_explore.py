"""An exploration in a real browser: started, watched while its plan grows, and its summary seen."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import signed_in_page
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.work.explore.explore_plane import SHOP

pytestmark = requirement("EXR-07")

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = start(make_repo(tmp_path_factory.mktemp("explored") / "shop", SHOP))
    yield running
    running.stop()


def test_explore_watch_and_read_the_summary(chromium: "Browser", server: Server) -> None:
    page = signed_in_page(chromium, server)
    page.goto(f"{server.url}/dashboard/explore")
    page.locator("textarea[name=goals]").fill("amounts of money")
    page.get_by_role("button", name="Explore").click()
    # Without a reload: the page follows the exploration to its end.
    page.get_by_role("group", name="Languages by lines").wait_for()
    page.get_by_text("shop/cli.py:4 shop = shop.cli:main").first.wait_for()
    page.get_by_text("into what it calls (cpl call explain_symbol symbol=shop/cli.py:4)").wait_for()
    assert page.locator("#plan").is_visible() and page.locator(".pill.good").count() >= 10
    assert page.locator("svg.treemap rect").count() == 4
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_role("link", name="Explore").first.click()
    page.get_by_role("link", name="shop", exact=True).wait_for()
