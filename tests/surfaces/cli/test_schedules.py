"""`cpl schedules`, what `cpl status` says of schedules, and the server that stays up for them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, cpl, make_repo, start, until
from tests.interaction.requirements import requirement

NIGHTLY = ("create", "nightly", "--goal", "Run the tests", "--cron", "0 3 * * *", "--timezone", "Europe/Berlin")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that wakes schedules."""
    running = start(make_repo(tmp_path_factory.mktemp("schedules") / "repo", {"a.txt": "x\n"}))
    yield running
    running.stop()


def run(server: Server, *arguments: str, code: int = 0) -> str:
    done = cpl("schedules", *arguments, cwd=server.repo)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


def result(server: Server, *arguments: str) -> JsonObject:
    found: JsonObject = json.loads(run(server, *arguments, "--json"))["result"]
    return found


@requirement("SCHED-10")
def test_a_schedule_is_made_shown_changed_run_and_deleted(server: Server) -> None:
    made = run(server, *NIGHTLY)
    assert made.count("next: ") == 5 and ("CET)" in made or "CEST)" in made)
    schedule_id = str(made.split()[0])
    assert schedule_id in run(server)
    listed = run(server, "list")
    assert "nightly" in listed and ("CET)" in listed or "CEST)" in listed)
    assert "--cron" in run(server, "create", "x", "--goal", "y", code=2)
    assert "6 fields" in run(server, "next", "--cron", "* * * * * *", code=1)
    assert len(run(server, "next", "--every", "PT15M", "-n", "3").splitlines()) == 3
    assert "changes nothing" in run(server, "update", schedule_id, code=1)
    changed = result(server, "update", schedule_id[-6:], "--every", "PT2H", "--disable", "--missed", "skip")
    assert (changed["trigger_spec"], changed["enabled"], changed["missed_policy"]) == ("PT2H", False, "skip")
    assert changed["timezone"] == "Europe/Berlin"
    started = result(server, "run", schedule_id)
    assert str(started["job_id"]) in run(server, "show", schedule_id)
    assert run(server, "delete", schedule_id) == f"{schedule_id} is deleted\n"
    assert "SCHEDULE_NOT_FOUND" in run(server, "show", schedule_id, code=1)


@requirement("SCHED-07")
def test_status_says_that_schedules_keep_a_server_up(server: Server) -> None:
    assert "stays up" not in cpl("status", cwd=server.repo).stdout
    schedule_id = run(server, *NIGHTLY).split()[0]
    status = cpl("status", cwd=server.repo).stdout
    assert "1 enabled, next at " in status and "a server in the background stays up for them" in status
    run(server, "update", schedule_id, "--disable")
    assert "stays up" not in cpl("status", cwd=server.repo).stdout
    run(server, "delete", schedule_id)


@requirement("SCHED-07")
def test_an_enabled_schedule_keeps_a_detached_server_up_and_a_disabled_one_does_not(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"a.txt": "x\n"})
    # Made without a server: recorded, and woken by the next one.
    asked = ("name=nightly", "goal=Run the tests", "trigger_kind=cron", "trigger_spec=0 3 * * *", "--json")
    schedule_id = json.loads(cpl("call", "schedule.create", *asked, cwd=repo).stdout)["result"]["schedule_id"]
    up = json.loads(cpl("up", "-d", "--json", "--set", "server.idle_exit_sec=0.5", cwd=repo).stdout)
    detached = Server(repo=repo, process=None, facts=up)  # type: ignore[arg-type]  # it is nobody's child
    # Its own idle check has come many times by then: it looks every half second, and the log is asked meanwhile.
    with pytest.raises(AssertionError):
        until(lambda: not detached.workspace.server.exists(), sec=4)
    cpl("schedules", "update", schedule_id, "--disable", cwd=repo)
    until(lambda: not detached.workspace.server.exists())


@requirement("SCHED-07")
def test_a_command_without_a_server_wakes_nothing(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"a.txt": "x\n"})
    at = json.loads(cpl("schedules", "next", "--every", "PT1M", "-n", "1", "--json", cwd=repo).stdout)["result"][
        "runs"
    ][0]
    asked = ("name=soon", "goal=look", "trigger_kind=at", f"trigger_spec={at}", "--json")
    schedule_id = json.loads(cpl("call", "schedule.create", *asked, cwd=repo).stdout)["result"]["schedule_id"]
    shown = json.loads(cpl("schedules", "show", schedule_id, "--json", cwd=repo).stdout)["result"]
    assert shown["history"] == []
    state = json.loads(cpl("call", "status", 'include:=["schedules"]', "--json", cwd=repo).stdout)["result"]
    assert state["schedules"]["runs_here"] is False


@requirement("SCHED-07")
def test_a_server_is_started_for_what_shall_run_and_for_nothing_else(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", {"a.txt": "x\n"})
    refused = cpl("schedules", "create", "bad", "--goal", "x", "--cron", "61 * * * *", cwd=repo)
    off = cpl("schedules", *NIGHTLY, "--disabled", cwd=repo)
    assert (refused.returncode, off.returncode) == (1, 0)
    assert "not running" in cpl("status", cwd=repo).stdout
    assert cpl("schedules", "update", "nightly", "--enable", cwd=repo).returncode == 0
    try:
        assert "1 enabled, next at " in cpl("status", cwd=repo).stdout
    finally:
        assert cpl("down", cwd=repo).returncode == 0
