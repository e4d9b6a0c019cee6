"""One server with a morning's work behind it, which all of these tests share."""

from collections.abc import Iterator

import pytest

from tests.browser.scenario import play, repository, start_server
from tests.harness import Server
from tests.surfaces.web.browser import BrowserSession


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in whose repository an agent has worked."""
    running = start_server(repository(tmp_path_factory.mktemp("web") / "shop"))
    play(running)
    yield running
    running.stop()


@pytest.fixture
def visitor(shop: Server) -> BrowserSession:
    """Somebody who is signed in."""
    return BrowserSession(shop).sign_in()
