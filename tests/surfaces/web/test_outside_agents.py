"""Outside agents on the dashboard: who runs a thread, what it changed, and the buttons to apply or discard that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import dumps
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession
from tests.surfaces.web.test_threads import _newest
from tests.work.agents.agent_plane import FILES, NAME, scripted

pytestmark = requirement("OAG-06")

STEPS = [["plan", "Raise the price"], ["write", "shop.py", "price = 2\n"], ["say", "Raised."]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("agents")
    overrides = [f"agents.acp={dumps({NAME: scripted()})}", f"jobs.trees={folder / 'trees'}"]
    running = start(make_repo(folder / "repo", FILES), overrides=overrides)
    yield running
    running.stop()


def test_a_thread_is_given_to_an_agent_and_its_changes_are_reviewed_and_applied(server: Server) -> None:
    person = BrowserSession(server).sign_in()
    assert f'<option value="{NAME}">' in person.get("/dashboard/threads").text
    assert person.post("/dashboard/threads", {"text": dumps(STEPS), "agent": NAME}).status == 303
    thread_id = _newest(server)
    place = f"/dashboard/threads/{thread_id}"
    until(lambda: "changed 1 file" in person.get(place).words)
    page = person.get(place).words
    assert f"run by the outside agent {NAME}" in page and "Raise the price" in page and "Raised." in page
    assert f"run by {NAME}" in person.get("/dashboard/threads").words
    diff = person.get(f"{place}/diff").words
    assert "price = 2" in diff and "Apply to the checkout" in diff
    assert (Path(server.repo) / "shop.py").read_text() == "price = 1\n"
    until(lambda: person.post(place, {"verb": "apply"}).status == 303)
    assert (Path(server.repo) / "shop.py").read_text() == "price = 2\n"
    assert "Applied 1 file to the checkout" in person.get(place).words
    assert person.post(place, {"verb": "discard"}).status == 303
    assert "The work tree was discarded" in person.get(place).words
