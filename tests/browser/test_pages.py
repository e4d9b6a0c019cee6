"""Every page in a real browser: nothing breaks, nobody is shut out, and a phone is wide enough."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.browser.chromium import HEIGHT, WIDTH, watch_page
from tests.browser.scenario import FOUND
from tests.browser.screenshots import PAGES
from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.testing.node import installed

pytestmark = requirement("WEB-02")

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

EVERY = [*PAGES, *FOUND]
# All rules; and those that the colours of a page decide, which are all that a scheme changes of it.
_RULES: Mapping[Literal["light", "dark"], str] = {
    "light": "axe.run({resultTypes: ['violations']})",
    "dark": "axe.run({resultTypes: ['violations'], runOnly: ['color-contrast', 'link-in-text-block']})",
}


@pytest.fixture(scope="session")
def axe() -> str:
    """The checker's own source; pinned beside these tests."""
    try:
        return (installed(Path(__file__).parent / "npm") / "axe-core" / "axe.min.js").read_text()
    except (subprocess.SubprocessError, OSError) as error:
        pytest.skip(f"NOT TESTED: axe-core cannot be installed: {error}")


@pytest.fixture(scope="module")
def tab(owner: "BrowserContext") -> "Iterator[Page]":
    """One page for all of these tests: a process for each would take longer to start than to draw what it shows."""
    opened = owner.new_page()
    yield opened
    opened.close()


@pytest.fixture
def page(tab: "Page", shop: Server) -> "Iterator[Page]":
    """The page as it was opened, but for where it is; whatever it complains of fails the test."""
    tab.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    tab.emulate_media(color_scheme="null", reduced_motion="null")
    with watch_page(tab, shop):
        yield tab


def address(server: Server, name: str) -> str:
    return server.url + (PAGES[name] if name in PAGES else FOUND[name](server))


@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_whole_and_usable(page: "Page", shop: Server, axe: str, name: str) -> None:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    answer = page.goto(address(shop, name))
    assert answer is not None and answer.status == 200
    page.evaluate(axe)
    for scheme, rules in _RULES.items():
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = page.evaluate(rules)["violations"]
        serious = [
            f"{one['id']}: {place['target']} {place.get('failureSummary', '')}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for place in one["nodes"]
        ]
        assert serious == []


@pytest.mark.parametrize("name", EVERY)
def test_a_page_fits_a_phone_and_markup_from_outside_does_nothing(page: "Page", shop: Server, name: str) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(address(shop, name))
    # A script of it would open a dialog, of which any page that is watched complains.
    assert page.locator("main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    assert page.evaluate("document.querySelector('main').getBoundingClientRect().right") <= 380


@pytest.mark.parametrize(
    "mode",
    ["auto", "literal", "regex", "symbol", "definitions", "references", "ranked", "lexical", "semantic", "hybrid"],
)
def test_searching_in_a_mode(page: "Page", shop: Server, mode: str) -> None:
    page.goto(f"{shop.url}/dashboard/repository")
    page.get_by_role("searchbox", name="Search").fill("gross")
    page.get_by_label("Mode").select_option(mode)
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="shop/price.py", exact=True).first.click()
    assert page.locator("h1").inner_text() == "price.py"
