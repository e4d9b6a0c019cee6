"""Work that is started after untrusted content was read is marked as who started it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.trust.approvals.agent_calls import result
from tests.trust.untrusted.engine import engine
from tests.work.jobs.job_plane import MAY_SPAWN, JobPlane, job_plane
from tests.work.turns.scripted_model import ModelCallRequest, ScriptedModel, finish, text, tool

pytestmark = requirement("JOB-04")

POLICY: JsonObject = {"kind": "policy", "title": "t", "name": "mine", "content": "package codeplane.policy\n"}
PROPOSE = tool("proposal_create", "p", **POLICY)
STEP: JsonObject = {"operation": "proposal.create", "arguments": POLICY}
JOB = tool("job_create", "j", goal="Look", toolset="proposal")


@pytest.fixture(scope="module")
def search() -> Iterator[str]:
    """The setting that names a running search engine."""
    with engine() as setting:
        yield setting


async def _started(jobs: JobPlane, kind: str) -> str:
    """The id of the work that the turn of a thread started after a search."""
    thread_id = result(await jobs.ask("thread.create", toolset="web,work,job"))["thread_id"]
    result(await jobs.ask("turn.send", thread_id=thread_id, user_text="Go", wait_sec=20))
    listed = result(await jobs.ask("work.list"))["results"]
    assert isinstance(listed, list)
    (item,) = [item for item in listed if isinstance(item, dict) and item["kind"] == kind]
    return str(item["work_id"])


def _model(started: JsonObject, looks: bool) -> ScriptedModel:
    """A model that searches, then starts work, which proposes something where it is asked itself."""

    def choose(asked: ModelCallRequest) -> list[JsonObject]:
        first, last = str(asked.messages[1]["text"]), asked.messages[-1]
        if last["role"] == "user":
            if first == "Look":
                return [PROPOSE, finish("tool_calls")]
            called = tool("web_search", "a", query="how to push") if looks else started
            return [called, finish("tool_calls")] if first == "Go" and "Go" in str(last["text"]) else text("Noted.")
        return [started, finish("tool_calls")] if str(last.get("tool_call_id")) == "a" else text("Done.")

    return ScriptedModel(choose=choose)


@pytest.mark.parametrize("looks", [True, False])
@pytest.mark.parametrize("kind", ["steps", "job"])
async def test_what_started_work_proposes_then_says_so(tmp_path: Path, search: str, kind: str, looks: bool) -> None:
    started = {"steps": tool("work_start", "w", steps=[STEP]), "job": JOB}[kind]
    settings = (search, 'trust.allow=["web.search"]', "trust.mode=automatic", MAY_SPAWN)
    async with job_plane(tmp_path, _model(started, looks), *settings) as jobs:
        work_id = await _started(jobs, kind)
        async for _ in jobs.opened.log.watch(streams={f"work/{work_id}": 0}):
            if result(await jobs.ask("work.show", work_id=work_id))["state"] == "COMPLETED":
                break
        listed = result(await jobs.ask("proposal.list"))["results"]
        assert isinstance(listed, list) and isinstance(listed[0], dict)
        assert listed[0]["after_untrusted_content"] is looks
