"""Every method of jobs and schedules by clients that others wrote; what 003 names, with its messages alone."""

import json
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, until
from tests.interaction.requirements import requirement
from tests.surfaces.connect.buf_curl import FORMS, BufCurl
from tests.surfaces.connect.npm_clients import buf, node, require_npm_clients
from tests.surfaces.connect.seed_schema import write_schema

pytestmark = requirement("RPC-20")

SCENARIO = Path(__file__).resolve().parent / "work.mjs"
ENDS = ("JOB_COMPLETED", "JOB_FAILED")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript that buf makes of the specification, and of our own protos."""
    require_npm_clients()
    folder = tmp_path_factory.mktemp("work")
    (folder / "package.json").write_text('{"type": "module"}')
    specification = write_schema(folder / "spec")
    for source, output in ((".", folder), (str(specification), specification)):
        done = buf("generate", source, "--template", "buf.gen.yaml", "--output", str(output))
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_buf_curl_uses_jobs(connect_server: Server, folder: Path, form: str) -> None:
    curl, token = BufCurl(server=connect_server, form=form, schema=folder / "spec"), connect_server.token
    ours = BufCurl(server=connect_server, form=form)
    goal: JsonObject = {"goal": f"greet by curl and {form}", "budget": {"maxToolSteps": 2}}
    created = curl.call("JobsService/CreateJob", goal, token)["item"]
    assert isinstance(created, dict) and created["goal"] == goal["goal"] and created["budget"]["maxToolSteps"] == 2
    named: JsonObject = {"jobId": created["jobId"]}

    def show() -> JsonObject:
        item = curl.call("JobsService/GetJob", named, token)["item"]
        assert isinstance(item, dict)
        return item

    until(lambda: show()["status"] in ENDS)
    job = show()
    # Only what the specification has, at the numbers that it gives them: its schema knows no others.
    assert {"jobId", "goal", "status", "threadId", "budget", "createdAt", "updatedAt"} <= job.keys()
    listed = curl.call("JobsService/ListJobs", {}, token)["items"]
    assert isinstance(listed, list) and created["jobId"] in [item["jobId"] for item in listed]
    page = ours.call("JobsService/ListJobs", {"pageSize": 1}, token)
    assert len(page["items"]) == 1  # type: ignore[arg-type]  # a list
    assert curl.call("JobsService/CancelJob", named, token)["status"] == job["status"]
    # It has ended, and changed nothing.
    for method in ("ResumeJob", "GetJobDiff", "ApplyJob", "DiscardJob"):
        assert ours.call(f"JobsService/{method}", named, token)["code"] == "failed_precondition"
    assert curl.call("JobsService/GetJob", {"jobId": "job_none"}, token)["code"] == "not_found"
    for method in ("CreateJob", "ListJobs", "GetJob", "CancelJob"):
        given = goal if method == "CreateJob" else named if method != "ListJobs" else {}
        assert curl.call(f"JobsService/{method}", given, None)["code"] == "unauthenticated"


@pytest.mark.parametrize("form", FORMS)
def test_buf_curl_uses_schedules(connect_server: Server, folder: Path, form: str) -> None:
    curl, token = BufCurl(server=connect_server, form=form, schema=folder / "spec"), connect_server.token
    ours = BufCurl(server=connect_server, form=form)
    made: JsonObject = {
        "name": f"nightly {form}",
        "triggerKind": "SCHEDULE_TRIGGER_CRON",
        "triggerSpec": "0 3 * * *",
        "timezone": "Europe/Berlin",
    }
    # What it runs is an addition: 003 has no field for it.
    assert curl.call("SchedulesService/CreateSchedule", made, token)["code"] == "invalid_argument"
    created = ours.call("SchedulesService/CreateSchedule", {**made, "goal": "greet"}, token)["item"]
    assert isinstance(created, dict) and created["enabled"] is True
    named: JsonObject = {"scheduleId": created["scheduleId"]}
    patch: JsonObject = {**named, "patch": {"enabled": False, "name": "patched"}}
    updated = curl.call("SchedulesService/UpdateSchedule", patch, token)["item"]
    assert isinstance(updated, dict) and updated["name"] == "patched" and "enabled" not in updated
    unknown: JsonObject = {**named, "patch": {"colour": "red"}}
    assert curl.call("SchedulesService/UpdateSchedule", unknown, token)["code"] == "invalid_argument"
    ran = curl.call("SchedulesService/RunScheduleNow", named, token)
    assert ran["wakeupEventId"] and ran["jobId"]
    shown = ours.call("SchedulesService/GetSchedule", named, token)["item"]
    assert isinstance(shown, dict) and shown["history"][0]["jobId"] == ran["jobId"]
    asked: JsonObject = {**{name: made[name] for name in ("triggerKind", "triggerSpec", "timezone")}, "count": 3}
    runs = ours.call("SchedulesService/ListNextRuns", asked, token)["runs"]
    assert isinstance(runs, list) and len(runs) == 3
    listed = curl.call("SchedulesService/ListSchedules", {}, token)["items"]
    assert isinstance(listed, list) and created["scheduleId"] in [item["scheduleId"] for item in listed]
    assert ours.call("SchedulesService/DeleteSchedule", named, token) == named
    assert ours.call("SchedulesService/GetSchedule", named, token)["code"] == "not_found"
    assert curl.call("SchedulesService/ListSchedules", {}, None)["code"] == "unauthenticated"


@pytest.mark.parametrize("form", ["json", "binary", "grpcweb", "grpc"])
def test_connect_for_node_uses_jobs_and_schedules(connect_server: Server, folder: Path, form: str) -> None:
    grpc = f"http://127.0.0.1:{connect_server.facts['grpc_port']}"
    address = grpc if form == "grpc" else connect_server.url
    done = node(SCENARIO, address, connect_server.token, form, cwd=folder)
    steps: dict[str, JsonObject] = {}
    for line in done.stdout.splitlines():
        step: JsonObject = json.loads(line)
        steps[str(step.pop("step"))] = step
    ended = steps.get("ended", {}).get("status")
    assert ended in ENDS, done.stdout + done.stderr
    assert steps == {
        "created": {"goal": f"greet by {form}", "steps": 3, "running": True},
        "ended": {"status": ended, "same": True},
        "listed": {"found": True},
        "cancelled": {"status": ended},
        "ends": dict.fromkeys(("resume", "diff", "apply", "discard"), "FailedPrecondition"),
        "nowhere": {"code": "NotFound"},
        "goalless": {"code": "InvalidArgument"},
        "scheduled": {"timezone": "Europe/Berlin", "enabled": True, "hasNext": True},
        "updated": {"name": "patched", "enabled": False},
        "unknownKey": {"code": "InvalidArgument"},
        "ran": {"woke": True, "job": True},
        "shown": {"history": ["STARTED"], "runs": 1},
        "next": {"count": 3},
        "schedules": {"found": True},
        "deleted": {"code": "NotFound"},
    }, done.stdout + done.stderr
