"""Queues jobs: the job, its thread, its turn and its work in one batch, once for each trigger."""

from contextlib import suppress
from dataclasses import dataclass, field

from codeplane.kernel.actor import Actor
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.config import JobsConfig, TurnsConfig
from codeplane.kernel.errors import JobNotFound, SequenceConflict
from codeplane.kernel.event import Correlation, Draft
from codeplane.kernel.ids import derived_event_id, digest, new_id
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Payloads
from codeplane.work.items.engine import WorkEngine
from codeplane.work.items.item import Priority, WorkLimits
from codeplane.work.jobs.events import JOB_CREATED, JOB_STATUS_CHANGED, job_draft
from codeplane.work.jobs.job import KIND, Job, JobStatus
from codeplane.work.jobs.store import JobStore
from codeplane.work.skills.library import ChosenSkill
from codeplane.work.threads.events import (
    CALLBACK_RECEIVED,
    MESSAGE_CREATED,
    SCHEDULE_TRIGGERED,
    THREAD_CREATED,
    TURN_QUEUED,
    thread_draft,
)
from codeplane.work.threads.store import ThreadStore
from codeplane.work.threads.thread import Thread
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.plan import TurnPlan

JOB_WAKEUP, SCHEDULE_WAKEUP, HEARTBEAT = "JOB_WAKEUP", "SCHEDULE_WAKEUP", "HEARTBEAT"
DELEGATED_CALLBACK = "DELEGATED_CALLBACK"
DEFAULT_BUDGET = TurnBudget(max_tool_steps=0, max_tool_tokens=0, max_context_messages=0)
_PRIORITIES = {
    DELEGATED_CALLBACK: Priority.CALLBACK,
    SCHEDULE_WAKEUP: Priority.SCHEDULE,
    HEARTBEAT: Priority.HEARTBEAT,
}
# A caller may ask for more than the settings give, up to this many times.
_MOST_TIMES = 4
_MAX_STEPS = 100_000
_MAX_TITLE = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job that is to be queued; its id is made of what triggered it, so that adding it twice is one job."""

    goal: str
    created_by: Actor
    on_behalf_of: Actor
    # Where it runs; None makes a thread for it.
    thread_id: str | None = None
    trigger_type: str = JOB_WAKEUP
    # The schedule, the turn or the ended job that it comes from.
    trigger_source_id: str = ""
    scheduled_for_ns: int | None = None
    # In which 0 is the default.
    budget: TurnBudget = DEFAULT_BUDGET
    max_wall_time_ms: int = 0
    # Whether it may change files, in a work tree of its own.
    changes_files: bool = False
    # The work item that started it, and the thread that is to hear of its end.
    parent_id: str | None = None
    callback_thread_id: str | None = None
    toolset: str = "core"
    model: str = ""
    # What its calls ask about, where that is stricter than the owner's setting.
    mode: str = ""
    skills: tuple[ChosenSkill, ...] = ()
    # The outside agent that works on it, in a work tree of its own.
    agent: str = ""
    call_id: str | None = None
    # Names a job that no schedule or callback triggers; the same key by the same caller is the same job.
    idempotency_key: str = field(default_factory=lambda: new_id("key"))

    @property
    def job_id(self) -> str:
        """The same for the same trigger, source and scheduled time, or for the same key of the same caller."""
        if self.trigger_type == JOB_WAKEUP:
            parts = (str(self.created_by), self.idempotency_key)
        else:
            parts = (self.trigger_source_id, str(self.scheduled_for_ns or ""))
        return f"job_{_hex('job', self.trigger_type, *parts)}"

    @property
    def priority(self) -> Priority:
        """How urgent it is among all work."""
        return _PRIORITIES.get(self.trigger_type, Priority.JOB)


class JobQueue:
    """Records new jobs."""

    def __init__(
        self,
        *,
        engine: WorkEngine,
        payloads: Payloads,
        threads: ThreadStore,
        jobs: JobStore,
        config: JobsConfig,
        turns: TurnsConfig,
    ) -> None:
        self._engine = engine
        self._payloads = payloads
        self._threads = threads
        self._jobs = jobs
        self._config = config
        self._turns = turns

    async def add(self, new: NewJob) -> str:
        """Queue a job and return its id; one that is there already stays as it is."""
        job_id = new.job_id
        if await self.find(job_id) is None:
            # The same trigger at the same moment: one job for both.
            with self._engine.admit(job_id), suppress(SequenceConflict):
                await self._create(new)
            self._engine.wake()
        return job_id

    async def find(self, job_id: str) -> Job | None:
        """The job of that whole id, if there is one."""
        try:
            return await self._jobs.get(job_id, whole=True)
        except JobNotFound:
            return None

    async def is_unfinished(self, job_id: str) -> bool:
        """Whether there is such a job and it has not ended."""
        job = await self.find(job_id)
        return job is not None and not job.has_ended

    async def _create(self, new: NewJob) -> None:
        job_id, (thread, is_new) = new.job_id, await self._thread(new)
        turn_id = derived_event_id("turn", thread.thread_id, new.trigger_type, job_id)
        ids = Correlation(
            call_id=new.call_id, thread_id=thread.thread_id, turn_id=turn_id, job_id=job_id, work_id=job_id
        )
        plan = TurnPlan(
            user_text=new.goal,
            reasoning="REASONING_SUMMARY",
            toolset=thread.toolset,
            model=new.model or thread.model,
            mode=new.mode or thread.mode,
            skills=new.skills,
            agent=new.agent,
        )
        wall_time_ms = self._wall_time_ms(new)
        sealed = plan.seal(self._payloads, job_id)
        await self._engine.store.create(
            kind=KIND,
            title=_first_line(new.goal),
            parent_id=new.parent_id,
            on_behalf_of=new.on_behalf_of,
            limits=WorkLimits(max_steps=_MAX_STEPS, max_seconds=wall_time_ms / 1000),
            payload_hash=sealed.hash,
            sealed=[sealed],
            steps=(),
            work_id=job_id,
            created_by=new.created_by,
            correlation=ids,
            priority=new.priority,
            copies=self._events(new, thread, ids, is_new=is_new),
        )

    async def _thread(self, new: NewJob) -> tuple[Thread, bool]:
        """The thread of a job, and whether it has to be created with it."""
        if new.thread_id is not None:
            return await self._threads.thread(new.thread_id), False
        created = Thread(
            thread_id=f"thr_{_hex('thread', new.job_id)}",
            title=_first_line(new.goal),
            created_by=str(new.created_by),
            toolset=new.toolset,
            model=new.model,
            archived=False,
            messages=0,
            created_ns=0,
            updated_ns=0,
        )
        return created, True

    def _events(self, new: NewJob, thread: Thread, ids: Correlation, *, is_new: bool) -> list[Draft]:
        """What the streams of the job and of its threads are shown of its beginning."""
        actor = str(new.created_by)
        message_id = f"msg_{_hex('message', str(ids.turn_id), 'user')}"
        status: JsonObject = {"job_id": new.job_id, "status": JobStatus.RUNNING.value}
        events: list[tuple[str, JsonObject]] = []
        if is_new:
            events.append((THREAD_CREATED, {"title": thread.title, "toolset": thread.toolset, "model": thread.model}))
        if new.trigger_type in (SCHEDULE_WAKEUP, HEARTBEAT) and new.scheduled_for_ns is not None:
            scheduled_for = rfc3339(new.scheduled_for_ns)
            events.append(
                (SCHEDULE_TRIGGERED, {"schedule_id": new.trigger_source_id, "scheduled_for_utc": scheduled_for})
            )
        if new.trigger_type == DELEGATED_CALLBACK:
            events.append((CALLBACK_RECEIVED, {"callback_id": new.trigger_source_id}))
        events += [
            (MESSAGE_CREATED, self._message(new, message_id)),
            (TURN_QUEUED, self._turn(new, message_id)),
            (JOB_STATUS_CHANGED, status),
        ]
        drafts = [thread_draft(kind, payload, actor=actor, ids=ids) for kind, payload in events]
        if new.callback_thread_id is not None:
            elsewhere = Correlation(thread_id=new.callback_thread_id, job_id=new.job_id, work_id=new.job_id)
            drafts.append(thread_draft(JOB_STATUS_CHANGED, status, actor=actor, ids=elsewhere))
        return [job_draft(JOB_CREATED, self._facts(new, thread), actor=actor, ids=ids), *drafts]

    def _facts(self, new: NewJob, thread: Thread) -> JsonObject:
        return {
            "goal": new.goal,
            "thread_id": thread.thread_id,
            "trigger_type": new.trigger_type,
            "trigger_source_id": new.trigger_source_id,
            "scheduled_for_ns": new.scheduled_for_ns,
            "max_wall_time_ms": self._wall_time_ms(new),
            "changes_files": new.changes_files,
            "callback_thread_id": new.callback_thread_id,
            "toolset": thread.toolset,
            "model": new.model or thread.model,
            "agent": new.agent,
        }

    @staticmethod
    def _message(new: NewJob, message_id: str) -> JsonObject:
        role = "user" if new.trigger_type == JOB_WAKEUP else "system"
        skills: JsonObject = {"skills": [skill.name for skill in new.skills]} if new.skills else {}
        metadata: JsonObject = {"job_id": new.job_id, **skills}
        return {"message_id": message_id, "role": role, "content": new.goal, "metadata": metadata}

    def _turn(self, new: NewJob, message_id: str) -> JsonObject:
        return {
            "client_message_id": "",
            "trigger_source_id": new.job_id,
            "user_message_id": message_id,
            "text_hash": digest(new.goal.encode()),
            "trigger_type": new.trigger_type,
            "queue_mode": "QUEUE_AFTER_TURN",
            **self.budget(new.budget).to_json(),
        }

    def budget(self, wanted: TurnBudget) -> TurnBudget:
        """The budget that a job gets which asks for `wanted`, in which 0 is the default."""
        config = self._turns.model_copy(update={"max_tool_steps": self._config.max_tool_steps})
        return TurnBudget.effective(wanted, config)

    def _wall_time_ms(self, new: NewJob) -> int:
        default = int(self._config.max_wall_time_sec * 1000)
        return min(new.max_wall_time_ms, default * _MOST_TIMES) or default


def _hex(*parts: str) -> str:
    return derived_event_id(*parts).replace("-", "")


def _first_line(goal: str) -> str:
    return goal.strip().partition("\n")[0][:_MAX_TITLE]
