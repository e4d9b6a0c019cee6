"""Work in the browser: a tree that follows what happens, and the buttons that cancel and resume."""

from collections.abc import Iterator

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession

pytestmark = requirement("WORK-05")

STATUS: JsonObject = {"operation": "status"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose agents may start work."""
    allowed = 'trust.agent_capabilities=["read_files", "write_files", "execute_shell", "spawn_agents"]'
    running = start(make_repo(tmp_path_factory.mktemp("work") / "repo"), overrides=[allowed])
    yield running
    running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def begin(server: Server, *steps: JsonObject, **more: object) -> str:
    result = server.call("work.start", steps=list(steps), **more)["result"]
    assert isinstance(result, dict)
    return str(result["work_id"])


def state(server: Server, work_id: str) -> str:
    result = server.call("work.show", work_id=work_id)["result"]
    assert isinstance(result, dict)
    return str(result["state"])


def test_what_an_item_started_is_below_it(server: Server, person: BrowserSession) -> None:
    inner: JsonObject = {"title": "the child", "steps": [STATUS]}
    work_id = begin(server, {"operation": "work.start", "arguments": inner}, title="the parent")
    until(lambda: state(server, work_id) == "COMPLETED")
    page = person.get("/dashboard/work").text
    parent, child = page.index("the parent"), page.index("the child")
    assert parent < page.index("<ul", parent) < child
    shown = person.get(f"/dashboard/work/{work_id}").words
    assert "What it started the child" in shown and "1 work.start" in shown and "done" in shown


def test_a_person_resumes_what_used_up_its_limits(server: Server, person: BrowserSession) -> None:
    work_id = begin(server, STATUS, STATUS, STATUS, max_steps=1)
    until(lambda: state(server, work_id) == "WAITING")
    shown = person.get(f"/dashboard/work/{work_id}").words
    assert "higher limits" in shown and "1 of 1" in shown and "2 status waits" in shown and "3 status not yet" in shown
    for wrong in ({"verb": "resume", "max_steps": "many"}, {"verb": "jump"}, {}):
        assert person.post(f"/dashboard/work/{work_id}", wrong).status == 400
    assert state(server, work_id) == "WAITING"
    assert person.post(f"/dashboard/work/{work_id}", {"verb": "resume", "max_steps": "9"}).status == 303
    until(lambda: state(server, work_id) == "COMPLETED")
    assert "Resume" not in person.get(f"/dashboard/work/{work_id}").text


def test_a_person_cancels_what_waits_for_an_answer(server: Server, person: BrowserSession) -> None:
    work_id = begin(server, {"operation": "run_bash", "arguments": {"command": "touch never"}})
    until(lambda: state(server, work_id) == "WAITING")
    page = person.get(f"/dashboard/work/{work_id}")
    assert "your answer" in page.words and "/dashboard/approvals/act_" in page.text
    assert person.post(f"/dashboard/work/{work_id}", {"verb": "cancel"}, form="0" * 64).status == 403
    assert state(server, work_id) == "WAITING"
    assert person.post(f"/dashboard/work/{work_id}", {"verb": "cancel", "reason": "not now"}).status == 303
    assert state(server, work_id) == "CANCELLED" and not (server.repo / "never").exists()
    assert "not now" in person.get(f"/dashboard/work/{work_id}").words


def test_a_page_follows_work_and_asks_only_for_what_changed(server: Server, person: BrowserSession) -> None:
    with person.stream("/dashboard/live?work=1") as events:
        work_id = begin(server, STATUS)
        assert next(event for event in events if event.get("event") == "work")
    until(lambda: state(server, work_id) == "COMPLETED")
    result = server.call("work.show", work_id=work_id)["result"]
    assert isinstance(result, dict)
    part = {"hx-request": "true"}
    assert person.get(f"/dashboard/work/{work_id}?seen={result['sequence']}", part).status == 204
    changed = person.get(f"/dashboard/work/{work_id}?seen=1", part)
    assert changed.status == 200 and "<html" not in changed.text and "completed" in changed.words
    assert "<html" not in person.get("/dashboard/work", part).text


def test_unknown_work_has_no_page(person: BrowserSession) -> None:
    assert person.get("/dashboard/work/wrk_nothing").status == 404
