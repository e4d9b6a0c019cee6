"""Jobs as work: a turn that acts as the job, pauses when its budget is used up, and reports its states."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from codeplane.kernel.actor import Actor
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.json import JsonObject
from codeplane.work.items.item import WaitReason, WorkItem
from codeplane.work.items.kind import Transition, WorkRun
from codeplane.work.items.step_list import wait_for_budget
from codeplane.work.items.table import CANCELLED, COMPLETED, FAILED, LEASED, RESUMED, WAITING
from codeplane.work.jobs.events import JOB_COMPLETED, JOB_FAILED, JOB_PAUSED, JOB_STATUS_CHANGED, job_draft
from codeplane.work.jobs.job import KIND, Job, JobStatus
from codeplane.work.jobs.store import JobStore
from codeplane.work.threads.events import TURN_BUDGET_APPLIED, thread_draft
from codeplane.work.threads.store import ThreadStore
from codeplane.work.turns.kind import TurnRunner, turn_events

_STATUSES = {
    LEASED: JobStatus.RUNNING,
    RESUMED: JobStatus.RUNNING,
    COMPLETED: JobStatus.COMPLETED,
    FAILED: JobStatus.FAILED,
    CANCELLED: JobStatus.CANCELLED,
}
# What a person is notified of, by the state that a job has come to.
_NOTIFICATIONS = {
    JobStatus.COMPLETED: (JOB_COMPLETED, "is done"),
    JobStatus.FAILED: (JOB_FAILED, "failed"),
    JobStatus.PAUSED_BUDGET: (JOB_PAUSED, "is paused"),
}
_HEARTBEAT = "HEARTBEAT"


class JobKind:
    """Runs jobs."""

    name: ClassVar[str] = KIND

    def __init__(
        self, *, threads: ThreadStore, jobs: JobStore, loop: TurnRunner, tokenizer: str, max_running: int
    ) -> None:
        self.max_running = max_running
        self._threads = threads
        self._jobs = jobs
        self._loop = loop
        self._tokenizer = tokenizer
        # Makes what a job needs before it runs, such as its work tree.
        self.prepare: Callable[[Job], Awaitable[None]] | None = None
        # Runs those that name an outside agent.
        self.outside: TurnRunner | None = None

    async def actor(self, item: WorkItem) -> Actor:
        """The job itself."""
        return item.actor

    async def may_start(self, item: WorkItem) -> bool:
        """Whether every earlier turn of its thread has ended."""
        return await self._threads.is_first(await self._threads.turn_of_work(item.work_id))

    async def run(self, item: WorkItem, run: WorkRun) -> Transition | None:
        """Go on with the job for as long as it may run."""
        left_sec = item.limits.max_seconds - item.ran_us / 1_000_000
        if left_sec <= 0:
            return _out_of_time(item)
        job = await self._jobs.get(item.work_id, whole=True)
        if self.prepare is not None:
            await self.prepare(job)
        loop = self.outside if job.agent and self.outside is not None else self._loop
        turn = await self._threads.turn_of_work(item.work_id)
        # Its running tool ends first, the model's answer does not.
        timeout = asyncio.Event()
        timer = asyncio.get_running_loop().call_later(left_sec, timeout.set)
        try:
            transition = await loop.run(item, turn, run, interrupt=timeout, actor=item.actor, job_id=item.work_id)
        finally:
            timer.cancel()
        is_cut_off = timeout.is_set() and transition is not None and transition.kind == FAILED
        return _out_of_time(item) if is_cut_off else transition

    async def copies(self, item: WorkItem, transition: Transition) -> Sequence[Draft]:
        """What the job's threads are shown of a transition, and the person is notified of."""
        job = await self._jobs.get(item.work_id, whole=True)
        turn = await self._threads.turn_of_work(item.work_id)
        events = turn_events(item, turn, transition, self._tokenizer)
        if transition.kind == RESUMED and isinstance(budget := transition.payload.get("budget"), dict):
            events.append((TURN_BUDGET_APPLIED, {"effective_budget": budget, "tokenizer": self._tokenizer}))
        actor = str(item.actor)
        drafts = [thread_draft(kind, payload, actor=actor, ids=job.ids) for kind, payload in events]
        status = _status_after(transition)
        if status is job.status:
            return drafts
        return [*drafts, *_status_events(job, status, _text(transition.payload, "message"))]


def _status_after(transition: Transition) -> JobStatus:
    if transition.kind != WAITING:
        return _STATUSES[transition.kind]
    is_budget = transition.payload.get("waits_for") == WaitReason.BUDGET.value
    return JobStatus.PAUSED_BUDGET if is_budget else JobStatus.WAITING_APPROVAL


def _status_events(job: Job, status: JobStatus, message: str) -> list[Draft]:
    actor = str(job.item.actor)
    changed: JsonObject = {"job_id": job.job_id, "status": status.value, **({"message": message} if message else {})}
    drafts = [thread_draft(JOB_STATUS_CHANGED, changed, actor=actor, ids=job.ids)]
    if job.callback_thread_id is not None:
        elsewhere = Correlation(thread_id=job.callback_thread_id, job_id=job.job_id, work_id=job.job_id)
        drafts.append(thread_draft(JOB_STATUS_CHANGED, changed, actor=actor, ids=elsewhere))
    # A heartbeat that has nothing to report stays silent.
    is_silent = job.trigger_type == _HEARTBEAT and status is JobStatus.COMPLETED
    if status in _NOTIFICATIONS and not is_silent:
        kind, verb = _NOTIFICATIONS[status]
        summary = f"{job.item.title} {verb}{f': {message}' if message else ''}"
        facts: JsonObject = {"job_id": job.job_id, "thread_id": job.thread_id, "summary": summary}
        drafts.append(job_draft(kind, facts, actor=actor, ids=job.ids))
    return drafts


def _out_of_time(item: WorkItem) -> Transition:
    return wait_for_budget(f"{item.limits.max_seconds:.0f} seconds of running time are used up")


def _text(payload: JsonObject, name: str) -> str:
    return str(payload.get(name) or "")
