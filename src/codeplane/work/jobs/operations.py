"""The operations on jobs."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from codeplane.kernel.call import Call
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.cursor import Cursors
from codeplane.kernel.errors import (
    IdempotencyConflict,
    InvalidArgument,
    JobNotFound,
    TooLarge,
    WorkEnded,
)
from codeplane.kernel.ids import digest, new_id
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.operation import Risk, operation
from codeplane.kernel.page import Pagination
from codeplane.kernel.ports import Ledger, Readable, ScopeOf
from codeplane.kernel.redaction import Redactor
from codeplane.ledger.own_actors import own_actor_condition
from codeplane.ledger.rows import Cell
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import WaitReason, WorkState, delegator
from codeplane.work.items.kind import PassMarks
from codeplane.work.jobs.job import Job, JobStatus
from codeplane.work.jobs.models import (
    MAX_GOAL_BYTES,
    CancelJobRequest,
    CreateJobRequest,
    JobPage,
    JobRequest,
    JobView,
    ListJobsRequest,
    ResumeJobRequest,
)
from codeplane.work.jobs.queue import JobQueue, NewJob
from codeplane.work.jobs.spawn_limits import SpawnLimits
from codeplane.work.jobs.store import JobStore
from codeplane.work.skills.library import SkillLibrary
from codeplane.work.threads.operations import ThreadAccess
from codeplane.work.threads.store import ThreadStore
from codeplane.work.turns.budget import TurnBudget

_CONDITIONS = {
    JobStatus.RUNNING: f"w.state IN ('{WorkState.QUEUED}', '{WorkState.RUNNING}')",
    JobStatus.WAITING_APPROVAL: f"w.state = '{WorkState.WAITING}' AND w.waits_for = '{WaitReason.APPROVAL}'",
    JobStatus.PAUSED_BUDGET: f"w.state = '{WorkState.WAITING}' AND w.waits_for = '{WaitReason.BUDGET}'",
    JobStatus.COMPLETED: f"w.state = '{WorkState.COMPLETED}'",
    JobStatus.FAILED: f"w.state = '{WorkState.FAILED}'",
    JobStatus.CANCELLED: f"w.state = '{WorkState.CANCELLED}'",
}


class JobAccess:
    """Finds jobs that a caller may see: people see all of them, others those that they created, and nobody those that
    a rule of the owner's hides from them."""

    def __init__(self, *, log: Ledger, store: JobStore, scope_of: ScopeOf, readable: Readable) -> None:
        self._log = log
        self._store = store
        self._scope_of = scope_of
        # Of a list of resources, those that no rule hides.
        self.readable = readable

    def condition(self, call: Call) -> tuple[str, list[Cell]]:
        """The SQL condition on what the caller may see, with its values."""
        scope = self._scope_of(call)
        if scope is None:
            return "1", []
        own, values = own_actor_condition("w.created_by", scope)
        return f"({own} OR j.job_id = ?)", [*values, call.actor.actor_id]

    async def job(self, call: Call, job_id: str) -> Job:
        """A job that the caller may see; JobNotFound for those of others, the same whether there are any."""
        scope = self._scope_of(call)
        try:
            job = await self._store.get(job_id)
        except JobNotFound:
            if scope is None:
                raise
            # Not as it was raised: that names the jobs of others whose ids are similar.
            raise JobNotFound(f"there is no job {job_id!r}") from None
        is_own = scope is None or job.item.actor == call.actor
        if scope is not None and not is_own:
            is_own = bool(await self._log.own_actors((job.item.created_by,), scope))
        # By its whole id: the caller may have named it by a part, which no rule about it would recognise.
        if is_own and job.item.stream in await self.readable(call, [job.item.stream]):
            return job
        raise JobNotFound(f"there is no job {job_id!r}")


class JobOperations:
    """What clients can do with jobs."""

    def __init__(
        self,
        *,
        queue: JobQueue,
        store: JobStore,
        access: JobAccess,
        threads: ThreadStore,
        thread_access: ThreadAccess,
        limits: SpawnLimits,
        engine: WorkEngine,
        catalogue: Catalogue,
        cursors: Cursors,
        redactor: Redactor,
        default_wall_time_sec: float,
        pass_marks: PassMarks,
        skills: SkillLibrary,
        choose_agent: Callable[[str], str],
    ) -> None:
        self._choose_agent = choose_agent
        self._queue = queue
        self._store = store
        self._access = access
        self._threads = threads
        self._thread_access = thread_access
        self._limits = limits
        self._engine = engine
        self._catalogue = catalogue
        self._cursors = cursors
        self._redactor = redactor
        self._default_wall_time_sec = default_wall_time_sec
        self._pass_marks = pass_marks
        self._skills = skills

    @operation("job.create", risk=Risk.WRITE, capability="spawn_agents", repeatable=True)
    async def create(self, call: Call, request: CreateJobRequest) -> JobView:
        """Have a model work on a goal in the background; it goes on after a restart, only proposes what reaches
        outside, and its result comes back to the thread that asked. job_show says how far it is."""
        new = await self._new_job(call, request)
        if await self._queue.find(new.job_id) is None:
            chosen = [await self._skills.choose(name) for name in dict.fromkeys(request.skills)]
            new = replace(new, skills=tuple(chosen))
            with self._limits.admit(new.parent_id, new.job_id):
                await self._pass_marks(call, new.job_id)
                await self._queue.add(new)
        job = await self._store.get(new.job_id, whole=True)
        if job.goal != new.goal:
            raise IdempotencyConflict(
                f"idempotency_key {call.idempotency_key!r} was used for another goal",
                hint="send an idempotency_key of its own with each job",
            )
        return await self._view(job)

    @operation("job.list", risk=Risk.READ)
    async def list(self, call: Call, request: ListJobsRequest) -> JobPage:
        """Jobs, the newest first; agents see their own."""
        own, values = self._access.condition(call)
        conditions = [own]
        for column, value in (("w.parent_id", request.parent_id), ("j.trigger_source_id", request.trigger_source_id)):
            if value:
                conditions.append(f"{column} = ?")
                values.append(value)
        if request.status is not None:
            conditions.append(_CONDITIONS[JobStatus(request.status)])
        asked: JsonObject = request.model_dump(mode="json", exclude={"cursor", "limit"})
        name = f"job.list:{call.task.session_id if call.task else ''}:{digest(canonical(asked))}"
        if request.cursor:
            conditions.append("j.position < (SELECT position FROM jobs WHERE job_id = ?)")
            values.append(str(self._cursors.open(request.cursor, scope=name)["before"]))
        found = await self._store.select(
            f"{' AND '.join(conditions)} ORDER BY j.position DESC LIMIT ?", (*values, request.limit + 1)
        )
        page, following = found[: request.limit], None
        if len(found) > request.limit:
            following = self._cursors.issue(scope=name, state={"before": page[-1].job_id})
        readable = await self._access.readable(call, [job.item.stream for job in page])
        shown = [job for job in page if job.item.stream in readable]
        return JobPage(
            results=tuple([await self._view(job) for job in shown]),
            pagination=Pagination(next_cursor=following),
            hidden=len(page) - len(shown),
        )

    @operation("job.show", risk=Risk.READ)
    async def show(self, call: Call, request: JobRequest) -> JobView:
        """A job: its state and place, what it waits for, what it used, and its result."""
        return await self._view(await self._access.job(call, request.job_id))

    @operation("job.cancel", risk=Risk.WRITE)
    async def cancel(self, call: Call, request: CancelJobRequest) -> JobView:
        """End a job and what it started, at once and in every state; what is done stays done."""
        job = await self._access.job(call, request.job_id)
        with suppress(WorkEnded):
            await self._engine.cancel(job.job_id, by=str(call.actor), reason=request.reason or "it was cancelled")
        return await self._view(await self._store.get(job.job_id, whole=True))

    @operation("job.resume", risk=Risk.WRITE, people=True)
    async def resume(self, call: Call, request: ResumeJobRequest) -> JobView:
        """Let a job that used up its budget or time go on with more of it; for a person."""
        job = await self._access.job(call, request.job_id)
        turn = await self._threads.turn_of_work(job.job_id)
        default = self._queue.budget(TurnBudget(max_tool_steps=0, max_tool_tokens=0, max_context_messages=0))
        wanted = request.budget
        budget = TurnBudget(
            max_tool_steps=wanted.max_tool_steps or turn.tool_steps + default.max_tool_steps,
            max_tool_tokens=wanted.max_tool_tokens or turn.tool_tokens + default.max_tool_tokens,
            max_context_messages=wanted.max_context_messages or turn.max_context_messages,
        )
        used_sec = job.item.ran_us / 1_000_000
        seconds = request.max_wall_time_ms / 1000 or used_sec + self._default_wall_time_sec
        if budget.used_up(turn.tool_steps, turn.tool_tokens) is not None or seconds <= used_sec:
            raise InvalidArgument(
                f"the job has used more already: {turn.tool_steps} tool steps, {turn.tool_tokens} tokens, "
                f"{used_sec:.0f} seconds",
                hint="name more than that, or leave the numbers out to give it the default once more",
            )
        raised: JsonObject = {"max_seconds": max(seconds, job.item.limits.max_seconds), "budget": budget.to_json()}
        await self._engine.resume(job.job_id, raised, by=str(call.actor))
        return await self._view(await self._store.get(job.job_id, whole=True))

    async def _new_job(self, call: Call, request: CreateJobRequest) -> NewJob:
        if (size := len(request.goal.encode("utf-8", "surrogatepass"))) > MAX_GOAL_BYTES:
            raise TooLarge(f"the goal has {size} bytes", details={"limit": MAX_GOAL_BYTES})
        names = [name for part in (request.toolset or "core").split(",") if (name := part.strip().lower())]
        unknown = [name for name in names if not self._catalogue.toolset([name])]
        if unknown or not names:
            raise InvalidArgument(
                f"there is no toolset {(unknown or [request.toolset])[0]!r}", hint="use core, all, or families"
            )
        # Not the default: a job of ours stays one.
        agent = self._choose_agent(request.agent) if request.agent else ""
        origin = call.caller.origin
        callback = request.callback_thread_id or (origin.thread_id if origin is not None else None)
        return NewJob(
            goal=self._redactor.text(request.goal),
            created_by=call.actor,
            on_behalf_of=delegator(call),
            thread_id=await self._visible_thread(call, request.thread_id),
            trigger_source_id=(origin.turn_id or origin.work_id or "") if origin is not None else "",
            budget=TurnBudget(**request.budget.model_dump()),
            max_wall_time_ms=request.max_wall_time_ms,
            # An outside agent changes files where it works, so that has to be a tree of its own.
            changes_files=request.changes_files or bool(agent),
            parent_id=origin.work_id if origin is not None else None,
            callback_thread_id=await self._visible_thread(call, callback or ""),
            toolset=",".join(names),
            model=request.model,
            mode=(origin.approval_mode or "") if origin is not None else "",
            agent=agent,
            call_id=call.call_id,
            idempotency_key=call.idempotency_key or new_id("key"),
        )

    async def _visible_thread(self, call: Call, thread_id: str) -> str | None:
        """The whole id of a thread that the caller may see and that is in use."""
        origin = call.caller.origin
        if not thread_id:
            return None
        if origin is not None and origin.thread_id == thread_id:
            # A job is not the actor of its thread, and belongs to it.
            return thread_id
        thread = await self._thread_access.thread(call, thread_id)
        if thread.archived:
            raise InvalidArgument(f"{thread.thread_id} is archived", hint="take it out first: thread_archive")
        return thread.thread_id

    async def _view(self, job: Job) -> JobView:
        turn = await self._threads.turn_of_work(job.job_id)
        answer = await self._threads.message(turn.assistant_message_id) if turn.assistant_message_id else None
        asked = await self._threads.message(turn.user_message_id)
        return JobView.of(
            job,
            turn,
            place=await self._engine.place_of(job.item) if job.item.state is WorkState.QUEUED else 0,
            result=answer.content if answer is not None else "",
            from_sequence=asked.sequence - 1 if asked is not None else 0,
        )
