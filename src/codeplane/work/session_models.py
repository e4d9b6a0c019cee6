"""Requests and results of the session and task operations."""

from typing import ClassVar, Literal

from pydantic import Field

from codeplane.kernel.config import TaskLimits
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination


class SessionRequest(Request):
    """A session."""

    session_id: str | None = Field(None, description="another session than this connection's own")


class LimitsRequest(Request):
    """Limits of a new task; what is left out keeps its default."""

    max_mutations: int | None = Field(None, ge=0, le=1_000_000)
    max_test_runs: int | None = Field(None, ge=0, le=1_000_000)
    max_duration_sec: int | None = Field(None, ge=0, le=31_536_000)


class CreateRequest(Request):
    """A new session."""

    prose: ClassVar[frozenset[str]] = frozenset({"description"})
    description: str = Field("", max_length=2000, description="what the task is about")
    limits: LimitsRequest = LimitsRequest()


class LimitsDelta(Request):
    """A change of a task's limits."""

    add_mutations: int = Field(0, ge=-1_000_000, le=1_000_000)
    add_test_runs: int = Field(0, ge=-1_000_000, le=1_000_000)
    add_duration_sec: int = Field(0, ge=-31_536_000, le=31_536_000)

    def apply_to(self, limits: TaskLimits) -> TaskLimits:
        """The limits with the change applied."""
        return TaskLimits(
            max_mutations=max(limits.max_mutations + self.add_mutations, 0),
            max_test_runs=max(limits.max_test_runs + self.add_test_runs, 0),
            max_duration_sec=max(limits.max_duration_sec + self.add_duration_sec, 0),
        )


class ConfigureRequest(SessionRequest):
    """More budget for a running task, or less."""

    limits_delta: LimitsDelta


class CloseRequest(SessionRequest):
    """The end of a session."""

    reason: Literal["success", "failed", "abandoned"] = "success"


class Counters(Result):
    """What a task has used."""

    mutations: int
    test_runs: int
    elapsed_sec: int


class Fingerprints(Result):
    """The last change and the last failure, in short."""

    last_mutation: str | None
    last_failure: str | None
    repeated_failure_count: int


class TimelineEntry(Result):
    """One call of the task."""

    timestamp: str
    op_type: str
    success: bool
    fingerprint: str | None = None


class TaskView(Result):
    """A task as its session sees it."""

    task_id: str
    state: str
    description: str
    limits: TaskLimits
    counters: Counters
    fingerprints: Fingerprints
    timeline: tuple[TimelineEntry, ...] = ()


class SessionResult(Result):
    """A session and its task."""

    action: Literal["status", "new", "close", "configure"]
    session_id: str
    task: TaskView
    only: str | None = Field(None, description="whose calls are shown, where not those of all")

    def text(self) -> str:
        task, used, limits = self.task, self.task.counters, self.task.limits
        lines = [
            f"session {self.session_id} · task {task.task_id} {task.state}",
            f"mutations {used.mutations}/{limits.max_mutations} · test runs {used.test_runs}/{limits.max_test_runs}"
            f" · {used.elapsed_sec}/{limits.max_duration_sec} s",
        ]
        if task.fingerprints.repeated_failure_count > 1:
            lines.append(f"the same failure {task.fingerprints.repeated_failure_count} times in a row")
        lines += [
            f"{entry.timestamp[11:19]} {entry.op_type} {'ok' if entry.success else 'failed'}" for entry in task.timeline
        ]
        if self.only:
            lines.append(f"[the session is somebody else's: only calls of {self.only} are shown]")
        return "\n".join(lines)


class TaskListRequest(PageRequest):
    """Which tasks to list."""

    state: Literal["OPEN", "CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED"] | None = None


class TaskRow(Result):
    """One task in a list."""

    task_id: str
    session_id: str
    state: str
    description: str
    opened_at: str
    closed_at: str | None
    calls: int
    failures: int
    mutations: int
    test_runs: int
    reason: str | None


class TaskList(Result):
    """A page of tasks, newest first."""

    results: tuple[TaskRow, ...]
    pagination: Pagination
    only: str | None = Field(None, description="whose tasks are listed, where not those of all")

    def text(self) -> str:
        lines = [
            f"{row.task_id} {row.state} {row.opened_at[:19]} calls {row.calls}, {row.failures} failed {row.description}"
            for row in self.results
        ]
        own = f"\n[only tasks of {self.only} and of its work]" if self.only else ""
        return ("\n".join(lines) or "no tasks") + own + self.pagination.line()
