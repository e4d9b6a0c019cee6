"""Jobs: a goal, a model and its tools in the background, until there is a result."""

import asyncio
from pathlib import Path

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.work.jobs.queue import SCHEDULE_WAKEUP, NewJob
from tests.interaction.requirements import requirement
from tests.kernel.plane import FixtureOps
from tests.work.jobs.job_plane import job_plane
from tests.work.turns.scripted_model import ScriptedModel, finish, text, tool

pytestmark = requirement("JOB-01")

PERSON = Actor(kind=ActorKind.OWNER, actor_id="owner")


async def test_a_job_runs_in_a_thread_of_its_own_to_its_result(tmp_path: Path) -> None:
    model = ScriptedModel([tool("fixture_read", "a", text="x"), finish("tool_calls")], text("All is well."))
    async with job_plane(tmp_path, model) as jobs:
        created = await jobs.create("Look after the tests\nand report")
        assert (created["status"], created["trigger_type"]) == ("JOB_RUNNING", "JOB_WAKEUP")
        assert created["budget"] == {"max_tool_steps": 20, "max_tool_tokens": 200_000, "max_context_messages": 200}
        assert created["max_wall_time_ms"] == 1_800_000
        done = await jobs.reached(created["job_id"])
        assert (done["status"], done["result"], done["tool_steps_used"]) == ("JOB_COMPLETED", "All is well.", 1)
        assert done["place"] == 0 and done["last_error"] == "" and int(str(done["wall_time_used_ms"])) >= 0
        assert await jobs.statuses(done) == ["JOB_RUNNING", "JOB_COMPLETED"]
        kinds = [event.type for event in await jobs.events(f"thread/{done['thread_id']}")]
        assert kinds[:4] == ["thread.created", "message.created", "turn.queued", "job.status_changed"]
        assert kinds[-2:] == ["turn.completed", "job.status_changed"]
        actors = {event.actor for event in await jobs.events(f"thread/{done['thread_id']}", "tool.finished")}
        assert actors == {f"job:{done['job_id']}"}
        assert await jobs.is_rebuilt_equal()


async def test_adding_the_same_trigger_twice_is_one_job(tmp_path: Path) -> None:
    async with job_plane(tmp_path, ScriptedModel(text("Done."))) as jobs:
        queue = jobs.opened.work.jobs
        new = NewJob(
            goal="Every night",
            created_by=PERSON,
            on_behalf_of=PERSON,
            trigger_type=SCHEDULE_WAKEUP,
            trigger_source_id="sch_1",
            scheduled_for_ns=1_800_000_000_000_000_000,
        )
        first, second = await asyncio.gather(queue.add(new), queue.add(new))
        assert first == second == new.job_id
        job = await jobs.reached(first)
        assert (job["trigger_type"], job["trigger_source_id"]) == ("SCHEDULE_WAKEUP", "sch_1")
        (triggered,) = await jobs.events(f"thread/{job['thread_id']}", "schedule.triggered")
        assert triggered.payload == {"schedule_id": "sch_1", "scheduled_for_utc": job["scheduled_for"]}
        assert len(await jobs.events(f"job/{first}", "job.created")) == 1
        assert not await queue.is_unfinished(first) and not await queue.is_unfinished("job_none")


async def test_the_same_key_is_the_same_job(tmp_path: Path) -> None:
    async with job_plane(tmp_path, ScriptedModel(text("Done."))) as jobs:
        first = await jobs.create("Once", idempotency_key="k1")
        again = await jobs.create("Once", idempotency_key="k1")
        assert first["job_id"] == again["job_id"]
        other = await jobs.ask("job.create", goal="Another", toolset="fixture", idempotency_key="k1")
        assert other.error is not None and other.error.name == "IDEMPOTENCY_CONFLICT"


async def test_five_run_at_once_and_the_others_know_their_place(tmp_path: Path) -> None:
    go = asyncio.Event()
    model = ScriptedModel([go, *text("Done.")])
    async with job_plane(tmp_path, model) as jobs:
        created = [await jobs.create(f"Job {number}") for number in range(8)]
        while jobs.opened.work.engine.running < 5:
            await asyncio.sleep(0)
        shown = [await jobs.show(job["job_id"]) for job in created]
        assert [job["place"] for job in shown] == [0, 0, 0, 0, 0, 1, 2, 3]
        assert {job["status"] for job in shown} == {"JOB_RUNNING"}
        go.set()
        for job in created:
            assert (await jobs.reached(job["job_id"]))["status"] == "JOB_COMPLETED"


async def test_chat_comes_before_jobs_and_jobs_before_schedules(tmp_path: Path) -> None:
    ops, order = FixtureOps(), list[str]()

    def choose(asked):  # type: ignore[no-untyped-def]  # a question of the scripted model
        order.append(str(asked.messages[-1]["text"]))
        return text("Done.")

    model = ScriptedModel(choose=choose)
    async with job_plane(tmp_path, model, "work.max_running=1", ops=ops, starts=False) as jobs:
        queue = jobs.opened.work.jobs
        for trigger in ("HEARTBEAT", SCHEDULE_WAKEUP):
            await queue.add(
                NewJob(goal=trigger, created_by=PERSON, on_behalf_of=PERSON, trigger_type=trigger, scheduled_for_ns=1)
            )
        job = await jobs.create("job")
        thread = await jobs.ask("thread.create", toolset="fixture")
        assert thread.result is not None
        thread_id = thread.result.model_dump()["thread_id"]
        sent = await jobs.ask("turn.send", thread_id=thread_id, user_text="chat")
        assert sent.error is None
        jobs.opened.work.start_engine(jobs.opened.conveyor)
        await jobs.reached(job["job_id"])
        listed = (await jobs.ask("job.list")).result
        assert listed is not None
        for view in listed.model_dump()["results"]:
            await jobs.reached(view["job_id"])
        assert order == ["chat", "job", "SCHEDULE_WAKEUP", "HEARTBEAT"]
