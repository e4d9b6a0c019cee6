"""Questions that wait, actions whose outcome is unknown, and tasks that have used up their limits."""

from pathlib import Path

import pytest

from codeplane.kernel.workspace import Workspace
from tests.browser.proposal import propose
from tests.harness import Server, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.cli.diagnosis.doctor_run import run_check, wait_for_check

pytestmark = requirement("CLI-22")


def test_questions_are_counted(server: Server) -> None:
    assert (run_check(server.workspace, "waiting").verdict, run_check(server.workspace, "waiting").found) == (
        "ok",
        "nothing",
    )
    propose(server, "echo hello")
    found = run_check(server.workspace, "waiting")
    assert (found.verdict, found.found) == ("ok", "1 question waits for you: cpl approvals")


def test_without_a_server_nobody_knows(workspace: Workspace) -> None:
    assert run_check(workspace, "waiting").found == "not known without a server"


def test_an_action_that_was_cut_off(repo: Path) -> None:
    running = start(repo)
    try:
        action = propose(running, "touch begun; while true; do sleep 1; done")
        assert "error" not in running.call("approval.approve", action_id=action)
        until(lambda: (repo / "begun").exists() or _is_refused(running, action))
        if _is_refused(running, action):
            pytest.skip("commands cannot run enclosed here, so nothing is proved")
    finally:
        running.kill()
    running = start(repo)
    try:
        found = wait_for_check(running.workspace, "waiting", "warn")
    finally:
        running.stop()
    assert found.verdict == "warn" and "their outcome is unknown" in found.found
    assert f"cpl approvals show {action}" in found.fix


def test_a_task_that_has_used_up_its_limits(server: Server) -> None:
    made = server.call("session.create", limits={"max_mutations": 1})["result"]
    assert isinstance(made, dict)
    edit = {"path": "new.txt", "content": "new\n"}
    assert "error" not in server.call("write_files", edits=[edit], session_id=made["session_id"])
    found = run_check(server.workspace, "waiting")
    assert found.verdict == "warn" and "used up its limits" in found.found and "session.configure" in found.fix


def _is_refused(running: Server, action: str) -> bool:
    result = running.call("approval.show", action_id=action)["result"]
    return isinstance(result, dict) and result["status"] == "EXECUTED"
