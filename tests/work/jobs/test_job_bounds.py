"""What bounds jobs: budgets, time, a person's decisions, cancels, rights, and jobs that start jobs."""

import asyncio
from pathlib import Path

import pytest

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from tests.interaction.requirements import requirement
from tests.kernel.plane import AGENT, FixtureOps
from tests.trust.approvals.agent_calls import refused, result
from tests.work.jobs.job_plane import MAY_SPAWN, JobPlane, job_plane
from tests.work.turns.scripted_model import Answer, ModelCallRequest, ScriptedModel, finish, text, tool

pytestmark = requirement("JOB-03")


def _reads_for_ever() -> ScriptedModel:
    return ScriptedModel([tool("fixture_read", "a", text="x"), finish("tool_calls")])


async def test_a_job_pauses_when_its_steps_are_used_up_and_goes_on_when_a_person_raises_them(tmp_path: Path) -> None:
    model = ScriptedModel(
        *([tool("fixture_read", f"t{number}", text="x"), finish("tool_calls")] for number in range(5)), text("Done.")
    )
    ops = FixtureOps()
    async with job_plane(tmp_path, model, ops=ops) as jobs:
        created = await jobs.create("Read a lot", budget={"max_tool_steps": 3})
        paused = await jobs.reached(created["job_id"], "JOB_PAUSED_BUDGET")
        assert ops.ran == ["fixture.read"] * 3 and paused["tool_steps_used"] == 3
        assert "3 of 3 tool steps" in str(paused["last_error"])
        too_few = await jobs.ask("job.resume", job_id=created["job_id"], budget={"max_tool_steps": 2})
        assert refused(too_few) == "INVALID_ARGUMENT"
        await jobs.ask("job.resume", job_id=created["job_id"], budget={"max_tool_steps": 4})
        await jobs.reached(created["job_id"], "JOB_PAUSED_BUDGET")
        resumed = result(await jobs.ask("job.resume", job_id=created["job_id"]))
        tokens = 200_000 + int(str(resumed["tool_tokens_used"]))
        assert resumed["budget"] == {"max_tool_steps": 24, "max_tool_tokens": tokens, "max_context_messages": 200}
        done = await jobs.reached(created["job_id"])
        assert (done["status"], done["result"]) == ("JOB_COMPLETED", "Done.") and ops.ran == ["fixture.read"] * 5
        # What it asked for when it paused was not asked of the model again.
        assert len(model.asked) == 6
        assert await jobs.statuses(done) == [
            *("JOB_RUNNING", "JOB_PAUSED_BUDGET", "JOB_RUNNING", "JOB_PAUSED_BUDGET", "JOB_RUNNING", "JOB_COMPLETED"),
        ]
        notes = result(await jobs.ask("notification.list"))["results"]
        assert isinstance(notes, list)
        types = [note["type"] for note in notes if isinstance(note, dict)]
        assert types == ["JOB_COMPLETED", "JOB_PAUSED", "JOB_PAUSED"]
        assert await jobs.is_rebuilt_equal()


async def test_only_a_person_raises_a_budget(tmp_path: Path) -> None:
    async with job_plane(tmp_path, _reads_for_ever(), MAY_SPAWN) as jobs:
        agent = JobPlane(jobs.opened, caller=AGENT)
        created = await agent.create("Read", budget={"max_tool_steps": 1})
        await jobs.reached(created["job_id"], "JOB_PAUSED_BUDGET")
        assert refused(await agent.ask("job.resume", job_id=created["job_id"])) in ("POLICY_DENIED", "UNAUTHORIZED")
        assert (await jobs.ask("job.resume", job_id=created["job_id"])).error is None


async def test_running_time_is_bounded_also_while_a_model_keeps_silent(tmp_path: Path) -> None:
    never, ops = asyncio.Event(), FixtureOps()
    model = ScriptedModel([tool("fixture_read", "a", text="x"), finish("tool_calls")], [never, *text("Late.")])
    async with job_plane(tmp_path, model, ops=ops) as jobs:
        created = await jobs.create("Take long", max_wall_time_ms=300)
        paused = await jobs.reached(created["job_id"], "JOB_PAUSED_BUDGET")
        assert int(str(paused["wall_time_used_ms"])) >= 290 and "running time" in str(paused["last_error"])
        never.set()
        await jobs.ask("job.resume", job_id=created["job_id"])
        done = await jobs.reached(created["job_id"])
        assert done["status"] == "JOB_COMPLETED" and ops.ran == ["fixture.read"]


async def test_what_reaches_outside_is_only_proposed_and_waits_for_a_person(tmp_path: Path) -> None:
    model = ScriptedModel([tool("fixture_send", "a", text="x"), finish("tool_calls")], text("Sent."))
    ops = FixtureOps()
    # Neither a mode nor a list of the owner's lifts it.
    settings = ("trust.mode=automatic", 'trust.allow=["fixture.send"]')
    async with job_plane(tmp_path, model, *settings, ops=ops) as jobs:
        created = await jobs.create("Send it")
        waits = await jobs.reached(created["job_id"], "JOB_WAITING_APPROVAL")
        assert ops.ran == []
        pending = waits["pending_action_ids"]
        assert isinstance(pending, list)
        await jobs.ask("approval.approve", action_id=pending[0])
        done = await jobs.reached(created["job_id"])
        assert done["status"] == "JOB_COMPLETED" and ops.ran == ["fixture.send"]
        assert await jobs.statuses(done) == ["JOB_RUNNING", "JOB_WAITING_APPROVAL", "JOB_RUNNING", "JOB_COMPLETED"]


@pytest.mark.parametrize("state", ["queued", "asking", "calling", "waiting", "paused"])
async def test_a_job_is_cancelled_in_every_state(tmp_path: Path, state: str) -> None:
    never, ops = asyncio.Event(), FixtureOps()
    answers: dict[str, Answer] = {
        "queued": [never, *text("Late.")],
        "asking": [never, *text("Late.")],
        "calling": [tool("fixture_slow", "a"), finish("tool_calls")],
        "waiting": [tool("fixture_send", "a"), finish("tool_calls")],
        "paused": [tool("fixture_read", "a"), finish("tool_calls")],
    }
    model = ScriptedModel(answers[state])
    async with job_plane(tmp_path, model, "jobs.max_running=1", ops=ops) as jobs:
        ahead = await jobs.create("Ahead", budget={"max_tool_steps": 1})
        job = await jobs.create("Behind") if state == "queued" else ahead
        if state == "calling":
            await ops.started.wait()
        elif state in ("waiting", "paused"):
            await jobs.reached(job["job_id"], "JOB_WAITING_APPROVAL", "JOB_PAUSED_BUDGET")
        cancelled = result(await jobs.ask("job.cancel", job_id=job["job_id"], reason="enough"))
        assert cancelled["status"] == "JOB_CANCELLED" and "enough" in str(cancelled["last_error"])
        assert (await jobs.statuses(cancelled))[-1] == "JOB_CANCELLED"
        again = result(await jobs.ask("job.cancel", job_id=job["job_id"]))
        assert again["status"] == "JOB_CANCELLED"
        if state == "waiting":
            pending = result(await jobs.ask("approval.list", status="PENDING"))["items"]
            assert pending == []
        if state == "queued":
            await jobs.ask("job.cancel", job_id=ahead["job_id"])


async def test_an_agent_needs_a_right_to_create_jobs_and_sees_only_its_own(tmp_path: Path) -> None:
    async with job_plane(tmp_path, ScriptedModel(text("Done."))) as jobs:
        denied = await JobPlane(jobs.opened, caller=AGENT).ask("job.create", goal="Mine", toolset="fixture")
        assert refused(denied) == "CAPABILITY_DENIED"
    async with job_plane(tmp_path, ScriptedModel(text("Done.")), MAY_SPAWN) as jobs:
        agent = JobPlane(jobs.opened, caller=AGENT)
        own, theirs = await agent.create("Mine"), await jobs.create("Yours")
        await jobs.reached(own["job_id"])
        listed = result(await agent.ask("job.list"))["results"]
        assert isinstance(listed, list)
        assert [job["job_id"] for job in listed if isinstance(job, dict)] == [own["job_id"]]
        for operation in ("job.show", "job.cancel", "job.diff", "job.discard"):
            assert refused(await agent.ask(operation, job_id=theirs["job_id"])) == "JOB_NOT_FOUND"
            assert refused(await agent.ask(operation, job_id="job_nothing")) == "JOB_NOT_FOUND"
        assert (await agent.show(own["job_id"]))["status"] == "JOB_COMPLETED"


async def test_a_job_ends_with_whom_it_acts_for(tmp_path: Path) -> None:
    never = asyncio.Event()
    async with job_plane(tmp_path, ScriptedModel([never, *text("Late.")]), MAY_SPAWN) as jobs:
        issued = result(
            await jobs.ask(
                "agent.token",
                agent="helper",
                capabilities=["read_files", "execute_tools", "streaming_tasks", "spawn_agents"],
            )
        )
        caller = Caller(surface="mcp", client="helper", connection_id="c9", token=str(issued["token"]))
        created = await JobPlane(jobs.opened, caller=caller).create("Go on for ever")
        await jobs.running(created)
        await jobs.ask("agent.revoke", agent=issued["agent_id"])
        ended = await jobs.reached(created["job_id"])
        # By its question to the model, which is refused from then on, or by the engine, whoever sees it first.
        assert ended["status"] in ("JOB_FAILED", "JOB_CANCELLED") and "Late" not in str(ended["result"])
        assert any(word in str(ended["last_error"]) for word in ("revoked", "CAPABILITY_DENIED")), ended["last_error"]


def _spawning(asked: ModelCallRequest) -> list[JsonObject]:
    """Start a job, and another one from there, and so on; end when that is refused."""
    last = asked.messages[-1]
    if last["role"] == "tool":
        return text(f"It said: {last['text']}")
    return [tool("job_create", "a", goal="Deeper", toolset="job"), finish("tool_calls")]


async def test_jobs_that_start_jobs_are_bounded_in_depth(tmp_path: Path) -> None:
    model = ScriptedModel(choose=_spawning)
    async with job_plane(tmp_path, model, MAY_SPAWN, "jobs.max_depth=3") as jobs:
        job = await jobs.create("Start", toolset="job")
        chain = [str(job["job_id"])]
        for _ in range(2):
            await jobs.reached(chain[-1])
            children = result(await jobs.ask("job.list", parent_id=chain[-1]))["results"]
            assert isinstance(children, list)
            (child,) = [
                found for found in children if isinstance(found, dict) and found["trigger_type"] == "JOB_WAKEUP"
            ]
            chain.append(str(child["job_id"]))
        last = await jobs.reached(chain[-1])
        assert "JOB_LIMIT_REACHED" in str(last["result"])


async def test_jobs_that_start_jobs_are_bounded_in_number(tmp_path: Path) -> None:
    calls = [tool("job_create", f"t{number}", goal=f"Job {number}", toolset="fixture") for number in range(4)]

    def choose(asked: ModelCallRequest) -> list[JsonObject]:
        if "Many" in str(asked.messages[1]["text"]) and asked.messages[-1]["role"] == "user":
            return [*calls, finish("tool_calls")]
        return text("Done.")

    model = ScriptedModel(choose=choose)
    async with job_plane(tmp_path, model, MAY_SPAWN, "jobs.max_spawned=3") as jobs:
        job = await jobs.reached((await jobs.create("Many", toolset="job"))["job_id"])
        answers = await jobs.events(f"thread/{job['thread_id']}", "tool.finished")
        statuses = [event.payload["status"] for event in answers]
        assert statuses == ["ok", "ok", "ok", "JOB_LIMIT_REACHED"]


@pytest.mark.parametrize("goal", ["", "  \n ", "x" * 1_000_000, "ä" * 40_000])
async def test_a_goal_that_is_empty_or_too_long_is_refused(tmp_path: Path, goal: str) -> None:
    async with job_plane(tmp_path, ScriptedModel(text("Done."))) as jobs:
        assert refused(await jobs.ask("job.create", goal=goal, toolset="fixture")) in ("INVALID_ARGUMENT", "TOO_LARGE")
        listed = result(await jobs.ask("job.list"))["results"]
        assert listed == []


async def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    async with job_plane(tmp_path, ScriptedModel(text("Done."))) as jobs:
        assert refused(await jobs.ask("job.create", goal="x", toolset="nonsense")) == "INVALID_ARGUMENT"
        assert refused(await jobs.ask("job.create", goal="x", thread_id="thr_none")) == "THREAD_NOT_FOUND"
        assert refused(await jobs.ask("job.create", goal="x", callback_thread_id="thr_none")) == "THREAD_NOT_FOUND"
        assert refused(await jobs.ask("job.create", goal="x", budget={"max_tool_steps": -1})) == "INVALID_ARGUMENT"
        # More than the settings give is given up to four times.
        asked = await jobs.create("x", budget={"max_tool_steps": 1000}, max_wall_time_ms=10**9)
        assert asked["budget"] == {"max_tool_steps": 80, "max_tool_tokens": 200_000, "max_context_messages": 200}
        assert asked["max_wall_time_ms"] == 4 * 1_800_000
