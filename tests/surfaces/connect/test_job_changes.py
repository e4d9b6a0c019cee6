"""Jobs that change files by clients that others wrote: raised budgets, diffs, applied and discarded."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.connect.buf_curl import FORMS, BufCurl
from tests.surfaces.connect.npm_clients import buf, node, require_npm_clients
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    ScriptedProvider,
    answer,
    openai_text,
    openai_tool,
    scripted_provider,
)

pytestmark = requirement("RPC-20")

SCENARIO = Path(__file__).resolve().parent / "job_changes.mjs"


def _decide(request: ReceivedRequest) -> Act:
    """Write a file that is named as the goal, add a line to it, and say that it is done."""
    messages = request.body["messages"]
    assert isinstance(messages, list)
    spoken = [message for message in messages if isinstance(message, dict)]
    goal = next(str(message["content"]) for message in spoken if message["role"] == "user")
    name = next(word for word in goal.split() if word.startswith(("node-", "curl-")))
    done = sum(message["role"] == "tool" for message in spoken)
    if done >= 2 or not request.body.get("tools"):
        return answer(openai_text("Done."))
    first: JsonObject = {"path": f"{name}.txt", "content": "first\n"}
    second: JsonObject = {"path": f"{name}.txt", "old_text": "first\n", "new_text": "first\nsecond\n"}
    return answer(openai_tool(f"c{done}", "write_files", {"edits": [second if done else first]}))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a model that changes files."""
    require_npm_clients()
    repo = make_repo(tmp_path_factory.mktemp("changes") / "repo", {"a.txt": "x\n"})
    with scripted_provider(answer(openai_text("Done."))) as provider:
        assert isinstance(provider, ScriptedProvider)
        provider.decide = _decide
        trees = tmp_path_factory.mktemp("trees")
        running = start(repo, overrides=[providers(openai("local", provider.url)), f"jobs.trees={trees}"])
        # What `cpl up` prints has no port of gRPC; its file of facts has.
        yield replace(running, facts=json.loads(running.workspace.server.read_text()))
        running.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the JavaScript that buf makes of our protos."""
    require_npm_clients()
    folder = tmp_path_factory.mktemp("javascript")
    (folder / "package.json").write_text('{"type": "module"}')
    made = buf("generate", ".", "--template", "buf.gen.yaml", "--output", str(folder))
    assert made.returncode == 0, made.stderr
    return folder


@pytest.mark.parametrize("form", FORMS)
def test_buf_curl_raises_a_budget_applies_and_discards(server: Server, form: str) -> None:
    curl, token = BufCurl(server=server, form=form), server.token

    def call(method: str, **given: object) -> JsonObject:
        found = curl.call(f"JobsService/{method}", given, token)  # type: ignore[arg-type]  # plain JSON
        assert "code" not in found, found
        return found

    def reach(job_id: str, status: str) -> None:
        until(lambda: call("GetJob", jobId=job_id)["item"]["status"] == status)  # type: ignore[call-overload, index]

    def create(goal: str, **given: object) -> str:
        return str(call("CreateJob", goal=goal, changesFiles=True, **given)["item"]["jobId"])  # type: ignore[call-overload, index]

    job_id = create(f"curl-{form}", budget={"maxToolSteps": 1})
    reach(job_id, "JOB_PAUSED_BUDGET")
    call("ResumeJob", jobId=job_id, budget={"maxToolSteps": 9})
    reach(job_id, "JOB_COMPLETED")
    assert "+second" in str(call("GetJobDiff", jobId=job_id)["diff"])
    made = server.repo / f"curl-{form}.txt"
    assert not made.exists()
    assert call("ApplyJob", jobId=job_id)["mutationId"]
    assert made.read_text() == "first\nsecond\n"
    other = create(f"curl-{form}-other")
    reach(other, "JOB_COMPLETED")
    call("DiscardJob", jobId=other)
    assert curl.call("JobsService/ApplyJob", {"jobId": other}, token)["code"] == "failed_precondition"
    assert not (server.repo / f"curl-{form}-other.txt").exists()


@pytest.mark.parametrize("form", ["json", "binary", "grpcweb", "grpc"])
def test_connect_for_node_raises_a_budget_applies_and_discards(server: Server, folder: Path, form: str) -> None:
    address = f"http://127.0.0.1:{server.facts['grpc_port']}" if form == "grpc" else server.url
    done = node(SCENARIO, address, server.token, form, cwd=folder)
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert steps == [
        {"step": "resumed", "steps": 9},
        {"step": "completed", "used": 2},
        {"step": "diff", "files": [f"node-{form}.txt"], "added": True},
        {"step": "applied", "mutation": True},
        {"step": "discarded"},
    ], done.stdout + done.stderr
    assert (server.repo / f"node-{form}.txt").read_text() == "first\nsecond\n"
    assert not (server.repo / f"node-{form}-other.txt").exists()
