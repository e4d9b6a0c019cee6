"""Explorations in the browser: started with a form, their plan, and their summary as a picture."""

from collections.abc import Iterator

import pytest

from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession
from tests.work.explore.explore_plane import SHOP

pytestmark = requirement("EXR-07")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    hostile = {**SHOP, "README.md": "# Shop\n\nA shop that says <script>alert(1)</script> to everybody who reads it.\n"}
    running = start(make_repo(tmp_path_factory.mktemp("explored") / "shop", hostile))
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def newest(server: Server) -> dict[str, object]:
    listed = server.call("orchestrate.explore.list", limit=1)["result"]
    assert isinstance(listed, dict) and isinstance(listed["results"], list) and isinstance(listed["results"][0], dict)
    return listed["results"][0]


def test_an_exploration_is_started_followed_and_drawn(server: Server, person: BrowserSession) -> None:
    assert "cpl explore" in person.get("/dashboard/explore").words
    assert person.post("/dashboard/explore", {"root": "", "goals": "money\n\n"}).status == 303
    until(lambda: newest(server)["state"] == "completed")
    place = f"/dashboard/explore/{newest(server)['sessionId']}"
    shown = person.get(place)
    assert 'aria-label="Languages by lines"' in shown.text and "python: 18 lines" in shown.text
    assert "<script>alert" not in shown.text
    for word in ("completed", "shop/cli.py:4 shop = shop.cli:main", "entryPoints", "SpanText", "class Money", "money"):
        assert word in shown.words, word
    assert "shop" in person.get("/dashboard/explore").words


def test_what_is_wrong_is_said_and_nothing_is_started(server: Server, person: BrowserSession) -> None:
    before = person.get("/dashboard/explore").words.count("completed")
    assert person.post("/dashboard/explore", {"root": "nowhere", "goals": ""}).status == 404
    assert person.get("/dashboard/explore/nothing").status == 404
    assert person.get("/dashboard/explore").words.count("completed") == before
