"""Bounds hold for calls at the same moment: what is counted and what is appended cannot be parted."""

import asyncio
from dataclasses import replace
from pathlib import Path

from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, OWNER, plane
from tests.trust.approvals.agent_calls import refused, result
from tests.work.jobs.job_plane import MAY_SPAWN, JobPlane, job_plane
from tests.work.turns.conversation import conversing
from tests.work.turns.scripted_model import ScriptedModel, text

pytestmark = requirement("MCX-04")

PROPOSAL: JsonObject = {
    "kind": "scope",
    "title": "Let me share",
    "operation": "capability.grant",
    "arguments": {"agent": "agent", "capabilities": ["context_sharing"], "reason": "to look things up"},
}


async def test_no_more_work_is_queued_than_may_be(tmp_path: Path) -> None:
    never = asyncio.Event()
    model = ScriptedModel(choose=lambda asked: [never, *text("Late.")])
    async with job_plane(tmp_path, model, "work.max_queued=5") as jobs:
        outcomes = await asyncio.gather(
            *(jobs.ask("job.create", goal=f"Goal {n}", toolset="fixture") for n in range(20))
        )
        made = [outcome for outcome in outcomes if outcome.error is None]
        assert len(made) == 5
        assert {refused(outcome) for outcome in outcomes if outcome.error is not None} == {"OVERLOADED"}


async def test_no_more_jobs_are_started_at_once_from_a_job_than_may_be(tmp_path: Path) -> None:
    async with job_plane(tmp_path, ScriptedModel(text("Done.")), MAY_SPAWN, "jobs.max_spawned=3") as jobs:
        parent = await jobs.create("Parent")
        await jobs.reached(parent["job_id"])
        job = await jobs.opened.work._conversations.jobs.get(str(parent["job_id"]))
        origin = replace(job.item.origin(1, "node"), job_id=None)
        caller = replace(AGENT, actor=job.item.actor, origin=origin)
        child = JobPlane(jobs.opened, caller=caller)
        outcomes = await asyncio.gather(
            *(child.ask("job.create", goal=f"Child {n}", toolset="fixture") for n in range(12))
        )
        ended = [None if outcome.error is None else outcome.error.name for outcome in outcomes]
        assert ended.count(None) == 3 and set(ended) - {None} == {"JOB_LIMIT_REACHED"}, ended


async def test_no_more_turns_wait_in_a_thread_than_may_be(tmp_path: Path) -> None:
    never = asyncio.Event()
    model = ScriptedModel(choose=lambda asked: [never, *text("Late.")])
    async with conversing(tmp_path, model, "turns.max_queued=2") as thread:
        asked = [thread.ask("turn.send", thread_id=thread.thread_id, user_text=f"Hello {n}") for n in range(12)]
        ended = [outcome.error.name if outcome.error is not None else None for outcome in await asyncio.gather(*asked)]
        # One runs, and two wait behind it.
        assert ended.count(None) == 3 and set(ended) - {None} == {"THREAD_BUSY"}, ended


async def test_no_more_proposals_of_one_agent_wait_than_may_and_others_are_not_kept_out(tmp_path: Path) -> None:
    async with plane(tmp_path) as opened:
        outcomes = await asyncio.gather(*(opened.conveyor.call("proposal.create", PROPOSAL, AGENT) for _ in range(30)))
        assert sum(outcome.error is None for outcome in outcomes) == 20
        assert {refused(outcome) for outcome in outcomes if outcome.error is not None} == {"OVERLOADED"}
        other = replace(AGENT, client="other", connection_id="c2")
        assert result(await opened.conveyor.call("proposal.create", PROPOSAL, other))
        # Nor is the owner, by any number of names.
        for number in range(12):
            name = replace(AGENT, client=f"flood{number}", connection_id=f"f{number}")
            await asyncio.gather(*(opened.conveyor.call("proposal.create", PROPOSAL, name) for _ in range(20)))
        ((count,),) = await opened.log.select("SELECT count(*) FROM proposals WHERE state = 'OPEN'")
        assert int(str(count)) == 200
        assert result(await opened.conveyor.call("proposal.create", PROPOSAL, OWNER))


async def test_the_quota_of_artifacts_without_a_thread_is_each_agents_own(tmp_path: Path) -> None:
    async with plane(tmp_path, "artifacts.thread_bytes=1024", "artifacts.max_bytes=1024") as opened:
        body: JsonObject = {"name": "a.txt", "text": "x" * 600}
        first = result(await opened.conveyor.call("artifact.put", body, AGENT))
        assert refused(await opened.conveyor.call("artifact.put", {**body, "text": "y" * 600}, AGENT)) == "TOO_LARGE"
        other = replace(AGENT, client="other", connection_id="c2")
        assert result(await opened.conveyor.call("artifact.put", body, other))
        named: JsonObject = {"artifact_id": first["artifact_id"]}
        assert result(await opened.conveyor.call("artifact.get", named, AGENT))["body"] == "x" * 600
        # Another name is another quota, and all of them together have ten.
        names = [replace(AGENT, client=f"flood{n}", connection_id=f"f{n}") for n in range(30)]
        puts = (
            opened.conveyor.call("artifact.put", {**body, "text": str(n) * 1000}, name) for n, name in enumerate(names)
        )
        outcomes = await asyncio.gather(*puts)
        assert sum(outcome.error is None for outcome in outcomes) < 10
        ((used,),) = await opened.log.select("SELECT sum(size) FROM artifact_parts")
        assert int(str(used)) <= 10 * 1024
        await opened.conveyor.call("artifact.delete", named, AGENT)
        assert result(await opened.conveyor.call("artifact.put", {**body, "text": "y" * 600}, AGENT))
        assert result(await opened.conveyor.call("artifact.put", body, OWNER))
