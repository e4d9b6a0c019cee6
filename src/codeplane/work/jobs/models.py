"""Requests and results of the job operations."""

from typing import Literal

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import FollowUp, Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.work.items.item import WorkState
from codeplane.work.jobs.job import Job, TreeState
from codeplane.work.skills.models import MAX_CHOSEN
from codeplane.work.threads.models import MAX_MESSAGE_BYTES
from codeplane.work.threads.thread import Turn
from codeplane.work.turns.budget import TurnBudget
from codeplane.work.turns.models import BudgetRequest

MAX_GOAL_BYTES = MAX_MESSAGE_BYTES
_MAX_WALL_TIME_MS = 31_536_000_000
Status = Literal[
    "JOB_RUNNING", "JOB_WAITING_APPROVAL", "JOB_COMPLETED", "JOB_FAILED", "JOB_PAUSED_BUDGET", "JOB_CANCELLED"
]
ENDED = frozenset({"JOB_COMPLETED", "JOB_FAILED", "JOB_CANCELLED"})


class CreateJobRequest(Request):
    """A goal to work on in the background."""

    goal: str = Field(min_length=1, max_length=MAX_GOAL_BYTES, pattern=r"\S", description="what is to be achieved")
    budget: BudgetRequest = BudgetRequest()
    max_wall_time_ms: int = Field(0, ge=0, le=_MAX_WALL_TIME_MS, description="how long it runs; 0 is the default")
    thread_id: str = Field("", max_length=100, description="where it runs; else in a thread of its own")
    changes_files: bool = Field(False, description="let it change files, in a work tree of its own")
    callback_thread_id: str = Field("", max_length=100, description="a thread that its result goes to")
    toolset: str = Field("", max_length=200, description="tools it may use: toolsets and families; core by default")
    model: str = Field("", max_length=200, description="provider/model instead of the default")
    skills: tuple[str, ...] = Field((), max_length=MAX_CHOSEN, description="skills that it is to follow, by name")
    agent: str = Field("", max_length=32, description="an outside agent that works on it, in a work tree of its own")


class JobRequest(Request):
    """A job."""

    job_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class CancelJobRequest(JobRequest):
    """The end of a job."""

    reason: str = Field("", max_length=500)


class ResumeJobRequest(JobRequest):
    """More budget and time for a job that has used up its own."""

    budget: BudgetRequest = Field(
        BudgetRequest(), description="all that it may use from its beginning on; 0 is the default once more"
    )
    max_wall_time_ms: int = Field(0, ge=0, le=_MAX_WALL_TIME_MS, description="likewise, by the time that it runs")


class ListJobsRequest(PageRequest):
    """Which jobs to list."""

    status: Status | None = None
    parent_id: str = Field("", max_length=100, description="only those that this work item started")
    trigger_source_id: str = Field("", max_length=200, description="only those that this schedule triggered")


class JobView(Result):
    """A job."""

    job_id: str
    goal: str
    status: str
    place: int = Field(description="its place in the queue; 0 once it has started")
    thread_id: str
    turn_id: str
    trigger_type: str
    trigger_source_id: str
    scheduled_for: str | None
    budget: JsonObject
    max_wall_time_ms: int
    tool_steps_used: int
    tool_tokens_used: int
    wall_time_used_ms: int
    last_error: str
    pending_action_ids: tuple[str, ...]
    parent_id: str | None
    callback_thread_id: str | None
    created_by: str
    on_behalf_of: str
    changes_files: bool
    agent: str
    tree: str
    changed_files: int
    mutation_id: str
    result: str
    from_sequence: int = Field(description="a watch of its thread from here on shows it from its goal on")
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, job: Job, turn: Turn, *, place: int, result: str, from_sequence: int) -> "JobView":
        """The job as callers see it."""
        item = job.item
        error = ": ".join(filter(None, (item.error, item.message))) if item.state is not WorkState.COMPLETED else ""
        return cls(
            job_id=job.job_id,
            goal=job.goal,
            status=job.status.value,
            place=place,
            thread_id=job.thread_id,
            turn_id=job.turn_id,
            trigger_type=job.trigger_type,
            trigger_source_id=job.trigger_source_id,
            scheduled_for=None if job.scheduled_for_ns is None else rfc3339(job.scheduled_for_ns),
            budget=TurnBudget.of(turn).to_json(),
            max_wall_time_ms=round(item.limits.max_seconds * 1000),
            tool_steps_used=turn.tool_steps,
            tool_tokens_used=turn.tool_tokens,
            wall_time_used_ms=item.ran_us // 1000,
            last_error=error,
            pending_action_ids=(item.action_id,) if item.action_id else (),
            parent_id=item.parent_id,
            callback_thread_id=job.callback_thread_id,
            created_by=item.created_by,
            on_behalf_of=str(item.on_behalf_of),
            changes_files=job.changes_files,
            agent=job.agent,
            tree=job.tree.value,
            changed_files=job.changed_files or 0,
            mutation_id=job.mutation_id,
            result=result,
            from_sequence=from_sequence,
            created_at=rfc3339(item.created_ns),
            updated_at=rfc3339(item.updated_ns),
        )

    def line(self) -> str:
        """The job in one line."""
        queued = f" (number {self.place} in the queue)" if self.place else ""
        steps = f", {plural(self.tool_steps_used, 'tool step')}" if self.tool_steps_used else ""
        return f"{self.job_id} {self.status}{queued}{steps} {self.goal.strip().partition(chr(10))[0][:80]}"

    def text(self) -> str:
        lines = [self.line(), f"thread: {self.thread_id}"]
        if self.last_error:
            lines.append(f"because: {self.last_error}")
        if self.pending_action_ids:
            lines.append(f"waits for: {', '.join(self.pending_action_ids)}")
        if self.tree == TreeState.OPEN and self.changed_files:
            changed = plural(self.changed_files, "file")
            lines.append(f"changed {changed}: look at job_diff, then job_apply or job_discard")
        return "\n".join([*lines, *([self.result] if self.result else [])])

    def follow_up(self) -> FollowUp | None:
        if self.status in ENDED:
            return None
        return FollowUp(show="job.show", cancel="job.cancel", arguments={"job_id": self.job_id})


class JobPage(Result):
    """Jobs, the newest first."""

    results: tuple[JobView, ...]
    pagination: Pagination
    hidden: int = Field(0, description="how many of them the owner's rules hide")

    def text(self) -> str:
        return ("\n".join(view.line() for view in self.results) or "no jobs") + self.pagination.line(self.hidden)
