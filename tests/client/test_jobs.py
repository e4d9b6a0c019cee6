"""Jobs through the Python client."""

from pathlib import Path

import pytest

from codeplane.client import Client, TurnBudget
from codeplane.client.async_client import AsyncClient
from codeplane.kernel.errors import InvalidArgument, JobNotFound, JobTreeGone
from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.work.models.model_plane import openai, providers
from tests.work.models.scripted_provider import answer, openai_text, openai_tool, scripted_provider

pytestmark = requirement("JOB-05")

EDIT: JsonObject = {"edits": [{"path": "shop.py", "old_text": "price = 1", "new_text": "price = 2"}]}


def test_a_job_is_created_watched_and_read(connect_server: Server) -> None:
    client = Client(connect_server.host, connect_server.port, token=connect_server.token)
    job = client.jobs.create("greet", budget=TurnBudget(max_tool_steps=2), idempotency_key="client-1")
    assert client.jobs.create("greet", budget=TurnBudget(max_tool_steps=2), idempotency_key="client-1").job_id == (
        job.job_id
    )
    statuses = list[str]()
    for event in client.watch_thread(job.thread_id, job.from_sequence):
        if event.type == "job.status_changed":
            statuses.append(str(event.data["status"]))
            if statuses[-1] == "JOB_COMPLETED":
                break
    done = client.jobs.get(job.job_id)
    assert done.has_ended and "No model is configured" in done.result and statuses == ["JOB_RUNNING", "JOB_COMPLETED"]
    assert job.job_id in [found.job_id for found in client.jobs.list(status="JOB_COMPLETED", page_size=1)]
    assert client.jobs.cancel(job.job_id) == "JOB_COMPLETED"
    with pytest.raises(JobNotFound):
        client.jobs.get("job_none")
    with pytest.raises(JobTreeGone):
        client.jobs.diff(job.job_id)
    with pytest.raises(InvalidArgument):
        client.jobs.create(" ")


async def test_the_client_for_asyncio_has_jobs(connect_server: Server) -> None:
    client = AsyncClient(connect_server.host, connect_server.port, token=connect_server.token)
    job = await client.create_job("greet again")
    async for event in client.watch_thread(job.thread_id, job.from_sequence):
        if event.data.get("status") == "JOB_COMPLETED":
            break
    assert (await client.job(job.job_id)).status == "JOB_COMPLETED"
    assert job.job_id in [found.job_id async for found in client.jobs()]
    assert await client.cancel_job(job.job_id) == "JOB_COMPLETED"


def test_a_diff_is_looked_at_applied_and_discarded(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "shop", {"shop.py": "price = 1\n"})
    script = [answer(openai_tool("call_1", "write_files", EDIT)), answer(openai_text("Done."))]
    with scripted_provider(*script, *script) as provider:
        trees = f"jobs.trees={tmp_path / 'trees'}"
        overrides = (providers(openai("local", provider.url)), "models.default=local/small", trees)
        server = start(repo, overrides=overrides)
        try:
            client = Client(server.host, server.port, token=server.token)
            first, second = (_changed(client, goal) for goal in ("apply it", "discard it"))
            diff = client.jobs.diff(first)
            assert diff.files == {"shop.py": "changed"} and "+price = 2" in diff.diff and diff.conflicts == ()
            assert (repo / "shop.py").read_text() == "price = 1\n"
            assert client.jobs.apply(first).startswith("mut_")
            assert (repo / "shop.py").read_text() == "price = 2\n"
            client.jobs.discard(second)
            assert client.jobs.get(second).tree == "JOB_TREE_DISCARDED" and [*(tmp_path / "trees").glob("*/*")] == []
        finally:
            server.stop()


def _changed(client: Client, goal: str) -> str:
    """A job that has ended, whose changes wait to be applied."""
    job = client.jobs.create(goal, changes_files=True)
    for event in client.watch_thread(job.thread_id, job.from_sequence):
        if event.type == "job.status_changed" and event.data["status"] != "JOB_RUNNING":
            break
    assert client.jobs.get(job.job_id).status == "JOB_COMPLETED"
    return job.job_id
