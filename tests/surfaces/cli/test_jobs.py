"""`cpl jobs`: create, list, show, watch, diff, apply, discard, cancel and resume, for people and programs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
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
    assert isinstance(messages, list) and isinstance(messages[-1], dict) and isinstance(messages[1], dict)
    if messages[-1]["role"] == "tool" and "for ever" not in str(messages[1]["content"]):
        return answer(openai_text("It is ", "done."))
    if "edit" in str(messages[1]["content"]):
        return answer(openai_tool("call_1", "write_files", EDIT))
    return answer(openai_tool(f"call_{len(messages)}", "read_files", {"paths": ["a.txt"]}))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a model that reads or edits."""
    folder = tmp_path_factory.mktemp("jobs")
    repo = make_repo(folder / "repo", {"a.txt": "x\n"})
    with scripted_provider(decide=_decide) as provider:
        trees = f"jobs.trees={folder / 'trees'}"
        running = start(repo, overrides=(providers(openai("l", provider.url)), "models.default=l/small", trees))
        yield running
        running.stop()


def run(server: Server, *arguments: str, code: int = 0) -> str:
    done = cpl("jobs", *arguments, cwd=server.repo)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout


def result(server: Server, *arguments: str) -> JsonObject:
    found: JsonObject = json.loads(run(server, *arguments, "--json"))["result"]
    return found


def test_a_job_is_created_watched_and_shown(server: Server) -> None:
    watched = run(server, "create", "Look at a.txt", "--watch")
    assert watched.strip() == "It is done."
    (line,) = [line for line in run(server).splitlines() if "Look at a.txt" in line]
    job_id = line.split()[0]
    assert "JOB_COMPLETED" in line and "1 tool step" in line
    assert "It is done." in run(server, "show", job_id[-10:])
    events = [json.loads(line) for line in run(server, "watch", job_id, "--json").splitlines()]
    assert events[0]["type"] == "message.created" and events[-1]["payload"]["status"] == "JOB_COMPLETED"
    assert job_id in run(server, "list", "--status", "completed")
    assert job_id not in run(server, "list", "--status", "failed")


def test_a_paused_job_goes_on_or_is_cancelled(server: Server) -> None:
    run(server, "create", "Read for ever", "--steps", "2", "--watch", code=1)
    (job,) = [line.split()[0] for line in run(server, "list", "--status", "paused_budget").splitlines()]
    assert "2 of 2 tool steps" in run(server, "show", job)
    run(server, "resume", job, "--steps", "3")
    run(server, "watch", job, code=1)
    assert "JOB_CANCELLED" in run(server, "cancel", job, "--reason", "enough")


def test_a_diff_is_shown_applied_and_discarded(server: Server) -> None:
    file = Path(server.repo) / "a.txt"
    jobs = [str(result(server, "create", f"edit it {number}", "-w")["job_id"]) for number in range(2)]
    for job in jobs:
        watched = cpl("jobs", "watch", job, cwd=server.repo)
        assert watched.returncode == 0 and f"next: cpl jobs diff {job}, then apply or discard" in watched.stderr
        assert "-x\n+y" in run(server, "diff", job)
    assert file.read_text() == "x\n"
    assert "undo takes it back" in run(server, "apply", jobs[0]) and file.read_text() == "y\n"
    # The second one changed the same line to the same text, so nothing stands in its way.
    assert "discarded" in run(server, "discard", jobs[1])
    refused = cpl("jobs", "apply", jobs[1], cwd=server.repo)
    assert refused.returncode == 1 and "was discarded" in refused.stderr and "hint:" in refused.stderr


def test_an_empty_goal_and_an_unknown_job_are_errors(server: Server) -> None:
    for arguments in (("create", " "), ("show", "job_nothing"), ("cancel", "job_nothing")):
        refused = cpl("jobs", *arguments, cwd=server.repo)
        assert refused.returncode == 1 and refused.stdout == "" and refused.stderr.startswith("error: ")
