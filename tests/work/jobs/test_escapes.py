"""A job gets no more done by having other work do it."""

import json
import re
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import result
from tests.work.jobs.job_plane import MAY_SPAWN, job_repository
from tests.work.turns.scripted_model import ModelCallRequest, ScriptedModel, finish, text, tool

pytestmark = requirement("JOB-02")

_THREAD = re.compile("thr_[0-9a-f]{8,}")
FILES = {"shop.py": "price = 1\n"}
EDIT: JsonObject = {"edits": [{"path": "shop.py", "old_text": "price = 1", "new_text": "price = 2"}]}


@pytest.mark.parametrize("changes_files", [False, True])
async def test_a_job_starts_no_other_work_than_jobs(tmp_path: Path, changes_files: bool) -> None:
    started = tool("work_start", title="write", steps=[{"operation": "write_files", "arguments": EDIT}])
    model = ScriptedModel([started, finish("tool_calls")], text("Done."))
    async with job_repository(tmp_path, FILES, model, MAY_SPAWN) as (jobs, repo, _):
        made = await jobs.create("Raise the price", toolset="all", changes_files=changes_files)
        job = await jobs.reached(made["job_id"])
        (answer,) = await jobs.events(f"thread/{job['thread_id']}", "tool.finished")
        assert answer.payload["status"] == "POLICY_DENIED"
        listed = result(await jobs.ask("work.list"))["results"]
        assert isinstance(listed, list) and len(listed) == 1
        assert (repo / "shop.py").read_text() == "price = 1\n"


async def test_a_job_hears_of_the_end_of_its_job_as_a_job_in_every_thread(tmp_path: Path) -> None:
    """A turn in the thread of a job's job would change the checkout."""

    def choose(asked: ModelCallRequest) -> list[JsonObject]:
        first, last = str(asked.messages[1]["text"]), asked.messages[-1]
        if last["role"] == "user" and "is done" in str(last["text"]):
            return [tool("write_files", "w", **EDIT), finish("tool_calls")]
        if first != "Begin" or "Again" in json.dumps(last):
            return text("Done.")
        if last["role"] == "user":
            return [tool("job_create", "a", goal="Wait", toolset="all"), finish("tool_calls")]
        thread_id = _THREAD.findall(json.dumps(last))[0]
        again = tool("job_create", "b", goal="Again", toolset="all", callback_thread_id=thread_id)
        return [again, finish("tool_calls")]

    async with job_repository(tmp_path, FILES, ScriptedModel(choose=choose), MAY_SPAWN) as (jobs, repo, _):
        begun = await jobs.reached((await jobs.create("Begin", toolset="all"))["job_id"])
        listed = result(await jobs.ask("job.list", parent_id=begun["job_id"]))["results"]
        assert isinstance(listed, list)
        (again,) = [job for job in listed if isinstance(job, dict) and job["goal"] == "Again"]
        assert again["callback_thread_id"] != begun["thread_id"]
        await jobs.happened(again["job_id"], "job.called_back")
        heard = result(await jobs.ask("job.list", parent_id=again["job_id"]))["results"]
        assert isinstance(heard, list) and isinstance(heard[0], dict)
        ended = await jobs.reached(heard[0]["job_id"])
        answers = await jobs.events(f"thread/{ended['thread_id']}", "tool.finished")
        assert {event.payload["status"] for event in answers} == {"POLICY_DENIED"}
        assert (repo / "shop.py").read_text() == "price = 1\n"
