"""Jobs in the browser: started, followed, and their changes applied or discarded."""

from collections.abc import Iterator

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, cpl, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.web.browser import BrowserSession
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    answer,
    openai_text,
    openai_tool,
    scripted_provider,
)

pytestmark = requirement("JOB-07")

EDIT: JsonObject = {"edits": [{"path": "a.txt", "old_text": "x", "new_text": "y"}]}


def _decide(request: ReceivedRequest) -> Act:
    messages = request.body["messages"]
    assert isinstance(messages, list) and isinstance(messages[-1], dict)
    if messages[-1]["role"] == "tool":
        return answer(openai_text("It is <b>done</b>."))
    if "wait" in str(messages[-1]["content"]):
        return answer(openai_tool("call_1", "run_bash", {"command": "true"}))
    return answer(openai_tool("call_1", "write_files", EDIT))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a model that edits."""
    folder = tmp_path_factory.mktemp("jobs")
    repo = make_repo(folder / "repo", {"a.txt": "x\n"})
    with scripted_provider(decide=_decide) as provider:
        trees = f"jobs.trees={folder / 'trees'}"
        running = start(repo, overrides=(providers(openai("l", provider.url)), "models.default=l/small", trees))
        yield running
        running.stop()


@pytest.fixture
def person(server: Server) -> BrowserSession:
    return BrowserSession(server).sign_in()


def _begin(person: BrowserSession, server: Server, goal: str) -> str:
    """A job started with the form of the page; returns the path of its own page."""
    assert person.post("/dashboard/work", {"goal": goal, "changes_files": "1"}).status == 303
    listed = server.call("job.list", limit=1)["result"]
    assert isinstance(listed, dict) and isinstance(listed["results"], list) and isinstance(listed["results"][0], dict)
    return f"/dashboard/work/{listed['results'][0]['job_id']}"


def test_a_job_is_started_and_its_changes_are_applied(server: Server, person: BrowserSession) -> None:
    place = _begin(person, server, "edit a file")
    until(lambda: "What it changed" in person.get(place).text)
    page = person.get(place)
    assert "It is &lt;b&gt;done&lt;/b&gt;." in page.text and "1 of 20" in page.words and "+y" in page.text
    assert "/live?after=" in page.text and "Apply to the checkout" in page.words
    assert (server.repo / "a.txt").read_text() == "x\n"
    assert person.post(place, {"verb": "apply"}, form="0" * 64).status == 403
    assert (server.repo / "a.txt").read_text() == "x\n"
    assert person.post(place, {"verb": "apply"}).status == 303
    assert (server.repo / "a.txt").read_text() == "y\n"
    shown = person.get(place)
    assert "Apply to the checkout" not in shown.words and "/dashboard/changes/mut_" in shown.text
    cpl("call", "undo", cwd=server.repo)


def test_conflicts_are_named_and_changes_are_discarded(server: Server, person: BrowserSession) -> None:
    (server.repo / "a.txt").write_text("x\n")
    place = _begin(person, server, "edit it again")
    until(lambda: "What it changed" in person.get(place).text)
    (server.repo / "a.txt").write_text("mine\n")
    assert "cannot be applied, since the checkout has changed: a.txt" in person.get(place).words
    assert person.post(place, {"verb": "apply"}).status == 409 and (server.repo / "a.txt").read_text() == "mine\n"
    assert person.post(place, {"verb": "discard"}).status == 303
    assert "What it changed" not in person.get(place).text
    (server.repo / "a.txt").write_text("x\n")


def test_a_job_that_waits_is_listed_and_cancelled(server: Server, person: BrowserSession) -> None:
    created = server.call("job.create", goal="wait for me", toolset="core,run_bash", changes_files=True)["result"]
    assert isinstance(created, dict)
    place = f"/dashboard/work/{created['job_id']}"
    until(lambda: "your answer" in person.get(place).words)
    assert "wait for me" in person.get("/dashboard/work").words
    assert "of them jobs: cpl jobs" in cpl("status", cwd=server.repo).stdout
    assert person.post(place, {"verb": "cancel_job"}).status == 303
    assert "cancelled" in person.get(place).words
