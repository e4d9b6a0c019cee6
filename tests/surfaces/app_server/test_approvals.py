"""Questions in clients: asked only where the owner allowed it, answered once, withdrawn when somebody else answered."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from openai_codex.models import JsonObject as SdkObject

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.client_secret import ClientSecret
from tests.harness import cpl, git, until
from tests.interaction.requirements import requirement
from tests.surfaces.app_server.assistant import Assistant, assistant, call, items_of, until_completed
from tests.surfaces.app_server.wire import WireClient, wire

pytestmark = requirement("CDX-03")

NAME = "asking-sdk"
EDIT = call("write_files", edits=[{"path": "notes.txt", "old_text": "start\n", "new_text": "start\nmore\n"}])


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Assistant]:
    """A server that asks about every change."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with assistant(tmp_path, "trust.mode=always") as running:
        yield running


@pytest.fixture
def secret(served: Assistant) -> str:
    """The secret of a client that the owner lets answer."""
    output = cpl("clients", "allow", NAME, "--repo", str(served.repo))
    assert output.returncode == 0, output
    return ClientSecret.of(served.server.workspace, NAME).read()


class Person:
    """A program that answers questions for its person."""

    def __init__(self, decision: str) -> None:
        self.decision = decision
        self.asked: list[tuple[str, SdkObject]] = []

    def __call__(self, method: str, params: SdkObject | None) -> SdkObject:
        self.asked.append((method, params or {}))
        return {"decision": self.decision}


@pytest.mark.parametrize(("decision", "status"), [("accept", "completed"), ("decline", "declined")])
def test_an_allowed_client_answers_about_a_file_change(
    served: Assistant, secret: str, decision: str, status: str
) -> None:
    person = Person(decision)
    with served.client("--client", NAME, approve=person) as client:
        thread = client.thread_start().thread.id
        turn = client.turn_start(thread, EDIT).turn.id
        seen = until_completed(client, turn)
        ((method, params),) = person.asked
        (item,) = [item for item in items_of(seen) if item["type"] == "fileChange"]
        assert method == "item/fileChange/requestApproval" and params["itemId"] == item["id"]
        assert "notes.txt" in str(params["reason"]) and item["status"] == status
        changed = "start\nmore\n" if decision == "accept" else "start\n"
        assert (served.repo / "notes.txt").read_text() == changed
    assert f"by client:{NAME}" in cpl("approvals", "--all", "-n", "1", "--repo", str(served.repo)).stdout


def test_a_client_can_have_every_change_asked_about(tmp_path: Path) -> None:
    with assistant(tmp_path) as served, wire(served.server) as client:
        thread = client.start_thread()
        client.start_turn(thread, EDIT)
        client.until("turn/completed")
        assert (served.repo / "notes.txt").read_text() == "start\nmore\n"
        started = client.result("thread/start", {"approvalPolicy": "untrusted"})
        assert started["approvalPolicy"] == "untrusted" and isinstance(started["thread"], dict)
        again = EDIT.replace("start", "more").replace("moremore", "more")
        client.start_turn(str(started["thread"]["id"]), again)
        assert served.decide(approve=False)["tool"] == "write_files"
        resumed = client.result("thread/resume", {"threadId": started["thread"]["id"]})
        assert resumed["approvalPolicy"] == "untrusted"


def test_a_client_that_accepts_everything_is_neither_asked_nor_believed(served: Assistant) -> None:
    """The SDK does so by default."""
    person = Person("accept")
    for arguments in ((), ("--client", "somebody")):
        with served.client(*arguments, approve=person) as client:
            thread = client.thread_start().thread.id
            turn = client.turn_start(thread, EDIT).turn.id
            assert served.decide(approve=False)["status"] == "PENDING"
            (item,) = [item for item in items_of(until_completed(client, turn)) if item["type"] == "fileChange"]
            assert item["status"] == "declined" and person.asked == []


@pytest.mark.parametrize("grants", [True, False])
def test_an_outward_call_asks_for_the_network(served: Assistant, secret: str, grants: bool) -> None:
    elsewhere = served.repo.parent / "elsewhere.git"
    git(served.repo.parent, "init", "--quiet", "--bare", str(elsewhere))
    git(served.repo, "remote", "add", "origin", str(elsewhere))
    with wire(served.server, secret=secret) as client:
        thread = client.start_thread()
        client.start_turn(thread, call("git_push", remote="origin", ref="main"))
        params = client.until("item/permissions/requestApproval")
        assert params["permissions"] == {"network": {"enabled": True}} and "Push" in str(params["reason"])
        (request,) = client.requests
        client.send({"id": request["id"], "result": {"permissions": {"network": {"enabled": grants}}}})
        client.until("turn/completed")
    assert ("main" in git(elsewhere, "branch")) is grants


def test_an_allowed_client_is_not_asked_about_commands(served: Assistant, secret: str) -> None:
    person = Person("accept")
    with served.client("--client", NAME, approve=person) as client:
        thread = client.thread_start().thread.id
        turn = client.turn_start(thread, call("run_bash", command="touch ran.txt")).turn.id
        served.decide(approve=False)
        until_completed(client, turn)
        assert person.asked == [] and not (served.repo / "ran.txt").exists()


def _asked(client: WireClient) -> tuple[JsonObject, object]:
    params = client.until("item/fileChange/requestApproval")
    (request,) = client.requests
    return params, request["id"]


def test_a_question_is_withdrawn_when_a_person_answered_elsewhere(served: Assistant, secret: str) -> None:
    with wire(served.server, secret=secret) as client:
        thread = client.start_thread()
        client.start_turn(thread, EDIT)
        _, request_id = _asked(client)
        served.decide(approve=True)
        assert client.until("serverRequest/resolved") == {"threadId": thread, "requestId": request_id}
        client.until("turn/completed")
        # What comes now is too late.
        client.send({"id": request_id, "result": {"decision": "decline"}})  # type: ignore[dict-item]  # plain JSON
        assert client.result("thread/read", {"threadId": thread})
    assert (served.repo / "notes.txt").read_text() == "start\nmore\n"


def test_of_two_clients_of_one_thread_one_answers_and_the_other_is_told(served: Assistant, secret: str) -> None:
    with wire(served.server, secret=secret) as first, wire(served.server, secret=secret) as second:
        thread = first.start_thread()
        second.result("thread/resume", {"threadId": thread})
        first.start_turn(thread, EDIT)
        _, here = _asked(first)
        _, there = _asked(second)
        second.send({"id": there, "result": {"decision": "accept"}})  # type: ignore[dict-item]  # plain JSON
        assert first.until("serverRequest/resolved")["requestId"] == here
        assert second.until("serverRequest/resolved")["requestId"] == there
        ends = [client.until("turn/completed")["turn"] for client in (first, second)]
        assert ends[0] == ends[1]
    assert (served.repo / "notes.txt").read_text() == "start\nmore\n"


def test_a_client_that_vanishes_leaves_its_question_and_is_asked_again(served: Assistant, secret: str) -> None:
    with wire(served.server, secret=secret) as client:
        thread = client.start_thread()
        client.start_turn(thread, EDIT)
        _asked(client)
    assert served.pending()["status"] == "PENDING"
    with wire(served.server, secret=secret) as client:
        resumed = client.result("thread/resume", {"threadId": thread})["thread"]
        assert isinstance(resumed, dict)
        assert resumed["status"] == {"type": "active", "activeFlags": ["waitingOnApproval"]}
        _, request_id = _asked(client)
        client.send({"id": request_id, "result": {"decision": "accept"}})  # type: ignore[dict-item]  # plain JSON
        client.until("turn/completed")
    assert (served.repo / "notes.txt").read_text() == "start\nmore\n"


@pytest.mark.parametrize(
    "answer", [{"result": {}}, {"result": {"decision": "yes"}}, {"error": {"code": 1, "message": "no"}}]
)
def test_anything_but_a_clear_answer_leaves_it_to_others(served: Assistant, secret: str, answer: JsonObject) -> None:
    with wire(served.server, secret=secret) as client:
        thread = client.start_thread()
        client.start_turn(thread, EDIT)
        _, request_id = _asked(client)
        client.send({"id": request_id, **answer})  # type: ignore[dict-item]  # plain JSON
        client.result("model/list")
        assert served.decide(approve=False)["status"] == "PENDING"
        client.until("turn/completed")
    assert (served.repo / "notes.txt").read_text() == "start\n"


def test_cancel_refuses_and_ends_the_turn(served: Assistant, secret: str) -> None:
    with wire(served.server, secret=secret) as client:
        thread = client.start_thread()
        client.start_turn(thread, EDIT)
        _, request_id = _asked(client)
        client.send({"id": request_id, "result": {"decision": "cancel"}})  # type: ignore[dict-item]  # plain JSON
        turn = client.until("turn/completed")["turn"]
        assert isinstance(turn, dict) and turn["status"] == "interrupted"
    until(lambda: "REJECTED" in cpl("approvals", "--all", "-n", "1", "--repo", str(served.repo)).stdout.upper())
    assert (served.repo / "notes.txt").read_text() == "start\n"
