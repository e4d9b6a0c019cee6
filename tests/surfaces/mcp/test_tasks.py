"""Calls that take long are tasks for clients that declare the extension: durable, and their caller's own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from tests.clients.node import environment, run
from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement

from .clients import MODERN
from .task_client import TASKS, TaskClient, text_of

pytestmark = requirement("MCX-01")

NAME = "asking-tasker"
INVALID, MISSING, MISMATCH = -32602, -32021, -32020


@pytest.fixture
def tasker(fixture_server: Server) -> TaskClient:
    return TaskClient(server=fixture_server)


def begin(client: TaskClient, tool: str, **arguments: object) -> str:
    task = client.call(tool, **arguments)
    assert task["resultType"] == "task" and task["status"] == "working", task
    return str(task["taskId"])


def test_what_ends_at_once_is_no_task(tasker: TaskClient) -> None:
    result = tasker.call("fixture_whoami")
    assert result["resultType"] == "complete" and text_of(result) == "agent:tasker"


def test_a_long_call_is_a_task_and_its_result_that_of_the_call(tasker: TaskClient) -> None:
    task_id = begin(tasker, "fixture_wait", name="plain")
    assert tasker.get(task_id)["status"] == "working"
    TaskClient(server=tasker.server, extensions=()).call("fixture_release", name="plain")
    task = tasker.ended(task_id)
    assert task["status"] == "completed" and text_of(task["result"]) == "plain was released"
    assert task["result"]["isError"] is False and task["resultType"] == "complete"
    # It stays, and is given again.
    assert text_of(tasker.get(task_id)["result"]) == "plain was released"


def test_who_does_not_declare_tasks_waits_for_the_answer_and_is_told_of_no_task(fixture_server: Server) -> None:
    plain = TaskClient(server=fixture_server, extensions=())
    result = plain.call("slow_compute", seconds=1.3, label="waited for")
    assert result["resultType"] == "complete" and text_of(result) == "waited for took 1.3 seconds"
    for method in ("tasks/get", "tasks/cancel"):
        assert plain.error(method, "task_x") == MISSING
    assert plain.error("tasks/update", "task_x", inputResponses={}) == MISSING
    listening = plain.post("subscriptions/listen", {"notifications": {"taskIds": ["task_x"]}})
    assert listening["error"]["code"] == MISSING
    refusal = plain.post("tasks/get", {"taskId": "task_x"})["error"]["data"]
    assert refusal == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


def test_the_tools_are_the_same_for_everybody(fixture_server: Server) -> None:
    listed = [
        TaskClient(server=fixture_server, extensions=declared).result("tools/list", {}) for declared in ((), (TASKS,))
    ]
    assert listed[0]["tools"] == listed[1]["tools"]


def test_a_task_is_nobody_elses(tasker: TaskClient) -> None:
    task_id = begin(tasker, "fixture_wait", name="private")
    other = TaskClient(server=tasker.server, name="another")
    assert other.error("tasks/get", task_id) == INVALID
    assert other.error("tasks/cancel", task_id) == INVALID
    assert other.error("tasks/update", task_id, inputResponses={"approval": {"action": "accept"}}) == INVALID
    # As for one that never was.
    messages = [other.post("tasks/get", {"taskId": known})["error"]["message"] for known in (task_id, "task_none")]
    assert messages[0].replace(task_id, "task_none") == messages[1]
    assert tasker.get(task_id)["status"] == "working"
    tasker.result("tasks/cancel", {"taskId": task_id})


def test_a_cancelled_task_ends_its_call(tasker: TaskClient) -> None:
    task_id = begin(tasker, "fixture_wait", name="cancelled")
    ack = tasker.result("tasks/cancel", {"taskId": task_id})
    assert {"taskId", "status", "result"}.isdisjoint(ack)
    assert tasker.get(task_id)["status"] == "cancelled"
    assert text_of(tasker.call("fixture_ended", name="cancelled")) == "cancelled"
    # Again is no error, and does not bring it back.
    tasker.result("tasks/cancel", {"taskId": task_id})
    assert tasker.get(task_id)["status"] == "cancelled"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_a_routing_header_that_names_another_task_is_refused(tasker: TaskClient, method: str) -> None:
    task_id = begin(tasker, "fixture_wait", name=f"routed {method}")
    answer = tasker.post(method, {"taskId": task_id, "inputResponses": {}}, routed_to="task_other")
    assert answer["error"]["code"] == MISMATCH
    tasker.result("tasks/cancel", {"taskId": task_id})


@pytest.mark.parametrize("task_id", ["", "task_none", "x" * 300, "../../etc", "ä\udcff"], ids=range(5))
def test_ids_that_are_none_are_refused(tasker: TaskClient, task_id: str) -> None:
    answer = tasker.post("tasks/get", {"taskId": task_id}, routed_to="task_none")
    assert answer["error"]["code"] in (INVALID, MISMATCH, -32700)


def test_a_result_has_structure_where_that_is_asked_for(fixture_server: Server) -> None:
    client = TaskClient(server=fixture_server, query="?structured=true")
    task_id = begin(client, "slow_compute", seconds=1.3, label="structured")
    assert client.ended(task_id)["result"]["structuredContent"]["said"] == "structured took 1.3 seconds"


def test_what_a_call_begins_is_followed_to_its_end(fixture_server: Server) -> None:
    client = TaskClient(server=fixture_server)
    grant = {"agent": "tasker", "without_token": True, "capabilities": ["spawn_agents"]}
    assert "result" in fixture_server.call("capability.grant", **grant)
    step = {"operation": "fixture.wait", "arguments": {"name": "followed"}}
    task = client.call("work_start", title="wait", steps=[step])
    assert task["resultType"] == "task", task
    client.call("fixture_started", name="followed")
    shown = client.get(task["taskId"])
    assert shown["status"] == "working" and "wrk_" in shown["statusMessage"]
    client.call("fixture_release", name="followed")
    done = client.ended(task["taskId"])
    assert done["status"] == "completed" and "COMPLETED" in text_of(done["result"])
    # To show it is no task, also while it goes on.
    task = client.call("work_start", title="wait", steps=[{**step, "arguments": {"name": "ended"}}])
    work_id = str(client.get(task["taskId"])["statusMessage"]).split()[0]
    assert client.call("work_show", work_id=work_id)["resultType"] == "complete"
    client.result("tasks/cancel", {"taskId": task["taskId"]})
    assert client.get(task["taskId"])["status"] == "cancelled"
    assert "CANCELLED" in text_of(client.call("work_show", work_id=work_id))


def test_an_exploration_is_a_task(codeplane_server: Server) -> None:
    client = TaskClient(server=codeplane_server, query="?toolset=all")
    task = client.call("orchestrate_explore_start")
    assert task["resultType"] == "task", task
    done = client.ended(task["taskId"])
    assert done["status"] == "completed" and "completed" in text_of(done["result"])


def test_a_cancelled_call_leaves_no_question_behind(tasker: TaskClient) -> None:
    task_id = begin(tasker, "fixture_destroy")
    waiting = tasker.wait_for(task_id, lambda task: "cpl approvals" in task.get("statusMessage", ""))
    action = str(waiting["statusMessage"]).split()[-1]
    tasker.result("tasks/cancel", {"taskId": task_id})
    approved = cpl("approvals", "approve", action, "--repo", str(tasker.server.repo))
    assert approved.returncode != 0 and "is REJECTED by system already" in approved.stderr, approved
    shown = cpl("approvals", "show", action, "--repo", str(tasker.server.repo)).stdout
    assert "the call was cancelled" in shown


class TestRestart:
    """Servers end; tasks do not."""

    @pytest.fixture
    def repo(self, tmp_path: Path) -> Path:
        return make_repo(tmp_path / "repo", {"test_slow.py": _SLOW_TEST, "wait.txt": "1"})

    @pytest.mark.parametrize("how", ["killed", "stopped"])
    def test_a_test_run_is_answered_by_the_next_server(self, repo: Path, how: str) -> None:
        server = start(repo, overrides=["server.shutdown_timeout_sec=1"])
        client = TaskClient(server=server)
        task_id = begin(client, "test_run")
        server.kill() if how == "killed" else server.stop()
        (repo / "wait.txt").unlink()
        again = start(repo)
        try:
            client = TaskClient(server=again)
            done = client.ended(task_id)
            assert done["status"] == "completed" and "1 passed" in text_of(done["result"]), done
            assert TaskClient(server=again, name="another").error("tasks/get", task_id) == INVALID
        finally:
            again.stop()

    def test_a_change_is_made_once_though_its_task_is_asked_for_after_a_kill(self, repo: Path) -> None:
        server = start(repo, program=(sys.executable, "-m", "tests.clients.fixture_server"))
        client = TaskClient(server=server)
        task_id = begin(client, "slow_compute", seconds=60, label="cut off")
        server.kill()
        again = start(repo, program=(sys.executable, "-m", "tests.clients.fixture_server"))
        try:
            # What it did is not known, so that it is not done again.
            done = TaskClient(server=again).ended(task_id)
            assert done["result"]["isError"] is True and text_of(done["result"]).startswith("OUTCOME_UNKNOWN: ")
        finally:
            again.stop()

    def test_a_question_is_asked_again_by_the_next_server(self, repo: Path) -> None:
        server = start(repo, program=(sys.executable, "-m", "tests.clients.fixture_server"))
        task_id = begin(TaskClient(server=server), "fixture_send")
        server.stop()
        again = start(repo, program=(sys.executable, "-m", "tests.clients.fixture_server"))
        try:
            client = TaskClient(server=again)
            waiting = client.wait_for(task_id, lambda task: "cpl approvals" in task.get("statusMessage", ""))
            action = str(waiting["statusMessage"]).split()[-1]
            assert cpl("approvals", "approve", action, "--repo", str(repo)).returncode == 0
            assert text_of(client.ended(task_id)["result"]).startswith("sent")
        finally:
            again.stop()


_SLOW_TEST = """
import time
from pathlib import Path

def test_slow():
    while Path("wait.txt").exists():
        time.sleep(0.1)
"""


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fixture_server: Server) -> Iterator[TaskClient]:
    """A client whose person may answer."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert cpl("clients", "allow", NAME, "--repo", str(fixture_server.repo)).returncode == 0
    secret = ClientSecret.of(fixture_server.workspace, NAME).read()
    yield TaskClient(server=fixture_server, name="asked", asks=True, headers={HEADER: secret})
    cpl("clients", "revoke", NAME, "--repo", str(fixture_server.repo))


def asked(client: TaskClient, tool: str) -> tuple[str, str, dict[str, Any]]:
    """A task whose question is shown, with the question's key and itself."""
    task_id = begin(client, tool)
    task = client.wait_for(task_id, lambda task: task["status"] == "input_required")
    [(key, question)] = task["inputRequests"].items()
    return task_id, key, question


def accept(decision: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"decision": decision}}


class TestQuestions:
    """What a task asks is what an elicitation asks, and its answers decide no more."""

    def test_a_person_answers_in_the_task(self, asking: TaskClient) -> None:
        task_id, key, question = asked(asking, "fixture_send")
        assert question["method"] == "elicitation/create" and question["params"]["message"].startswith("Send")
        asking.result("tasks/update", {"taskId": task_id, "inputResponses": {key: accept("approve")}})
        assert text_of(asking.ended(task_id)["result"]) == "sent"
        last = cpl("approvals", "--all", "-n", "1", "--repo", str(asking.server.repo)).stdout
        assert f"by client:{NAME}" in last

    def test_a_no_is_a_no(self, asking: TaskClient) -> None:
        task_id, key, _ = asked(asking, "fixture_send")
        asking.result("tasks/update", {"taskId": task_id, "inputResponses": {key: {"action": "decline"}}})
        assert text_of(asking.ended(task_id)["result"]).startswith("REJECTED: ")

    def test_answers_to_nothing_that_was_asked_are_passed_over(self, asking: TaskClient) -> None:
        task_id, key, _ = asked(asking, "fixture_send")
        for responses in (
            {"other": accept("approve")},
            {key: "approve"},
            {key: {"action": "run it"}},
            {},
        ):
            asking.result("tasks/update", {"taskId": task_id, "inputResponses": responses})
        assert asking.get(task_id)["status"] == "input_required"
        asking.result("tasks/cancel", {"taskId": task_id})

    def test_without_the_clients_secret_nothing_is_shown_or_decided(self, asking: TaskClient) -> None:
        task_id, key, _ = asked(asking, "fixture_send")
        for headers in ({}, {HEADER: "cpl_client_" + "a" * 43}):
            other = TaskClient(server=asking.server, name=asking.name, asks=True, headers=headers)
            shown = other.get(task_id)
            assert shown["status"] == "working" and "inputRequests" not in shown
            answer = other.post("tasks/update", {"taskId": task_id, "inputResponses": {key: accept("approve")}})
            assert answer["error"]["data"]["error"] == "POLICY_DENIED"
        assert asking.get(task_id)["status"] == "input_required"
        asking.result("tasks/cancel", {"taskId": task_id})

    @pytest.mark.parametrize("tool", ["fixture_destroy", "fixture_shell"])
    def test_shell_and_what_destroys_are_never_asked_about_there(self, asking: TaskClient, tool: str) -> None:
        task_id = begin(asking, tool)
        waiting = asking.wait_for(task_id, lambda task: "cpl approvals" in task.get("statusMessage", ""))
        assert waiting["status"] == "working" and "inputRequests" not in waiting
        asking.result("tasks/cancel", {"taskId": task_id})

    def test_a_client_that_is_revoked_decides_nothing(self, asking: TaskClient) -> None:
        task_id, key, _ = asked(asking, "fixture_send")
        assert cpl("clients", "revoke", NAME, "--repo", str(asking.server.repo)).returncode == 0
        asking.post("tasks/update", {"taskId": task_id, "inputResponses": {key: accept("approve")}})
        assert text_of(asking.ended(task_id)["result"]).startswith("APPROVAL_PENDING: ")


def test_the_inspector_drives_a_task_to_its_end(fixture_server: Server, tmp_path: Path) -> None:
    options = ("--cli", "--format", "json", "--protocol-era", "modern", "--method", "tools/call")
    called = ("--tool-name", "slow_compute", "--tool-arg", "seconds=1.5", "--tool-arg", "label=inspected")
    outcome = run("inspector", *options, *called, "--", fixture_server.mcp_url, env=environment(tmp_path), cwd=tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    [content] = json.loads(outcome.stdout)["result"]["content"]
    assert content["text"] == "inspected took 1.5 seconds"
    recent = json.loads(json.dumps(fixture_server.call("ledger.events", newest=True, limit=200)))
    kinds = {event["type"] for event in recent["result"]["results"]}
    assert "call.deferred" in kinds


def test_a_session_of_the_older_protocol_is_told_of_no_extension(fixture_server: Server) -> None:
    assert TASKS in TaskClient(server=fixture_server).result("server/discover", {})["capabilities"]["extensions"]
    body = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"extensions": {TASKS: {}}},
        "clientInfo": {"name": "old", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": body}
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    _, answer = fixture_server.request("POST", "/mcp", body=json.dumps(message).encode(), headers=headers)
    assert MODERN.encode() not in answer and TASKS.encode() not in answer and b"serverInfo" in answer
