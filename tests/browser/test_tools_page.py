"""The page of outside tools in a real browser: what servers are started with does not break it on a phone."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.chromium import signed_in_page
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.cli.test_tools import Owner

pytestmark = requirement("WEB-02")

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LONG = "/opt/" + "/".join(f"a-folder-without-any-space-{number}" for number in range(8)) + "/index.js"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    owner = Owner(tmp_path / "config", make_repo(tmp_path / "shop", {"a.txt": "x\n"}))
    owner.type("tools", "add", "notes", "--", "python3", LONG)
    running = start(owner.repo, environ=owner.environ)
    yield running
    running.stop()


def test_a_long_command_fits_a_phone(chromium: "Browser", server: Server) -> None:
    page = signed_in_page(chromium, server)
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(f"{server.url}/dashboard/tools")
    page.get_by_text(LONG).first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
