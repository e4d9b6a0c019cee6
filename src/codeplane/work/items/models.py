"""Requests and results of the work operations."""

from typing import ClassVar, Literal

from pydantic import Field

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import FollowUp, Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.work.items.item import WorkItem, WorkState

MAX_STEPS = 1000


class WorkStep(Request):
    """One call."""

    operation: str = Field(min_length=1, max_length=100, description="as in write_files or git.commit")
    arguments: dict[str, JsonValue] = Field({}, description="its arguments")


class StartRequest(Request):
    """Calls to make one after the other."""

    prose: ClassVar[frozenset[str]] = frozenset({"title"})
    steps: tuple[WorkStep, ...] = Field(min_length=1, max_length=MAX_STEPS)
    title: str = Field("", max_length=200, description="what it is for")
    max_steps: int | None = Field(None, ge=1, description="pause for a person after so many; at most the setting's")
    max_seconds: float | None = Field(None, gt=0, description="likewise, by the time that the steps take")


class WorkRequest(Request):
    """A work item."""

    def is_assessed_at_once(self) -> bool:
        return True

    work_id: str = Field(min_length=4, max_length=100, description="its id, or a beginning or end that only it has")


class CancelRequest(WorkRequest):
    """The end of a work item."""

    reason: str = Field("", max_length=500)


class ResumeRequest(WorkRequest):
    """Higher limits for an item that has used up its own."""

    max_steps: int | None = Field(None, ge=1, le=1_000_000)
    max_seconds: float | None = Field(None, gt=0, le=31_536_000)


class WatchWorkRequest(WorkRequest):
    """The events of an item after a sequence, as they happen."""

    after: int = Field(0, ge=0, le=2**53, description="the last sequence that was seen")
    heartbeat_sec: float = Field(15.0, ge=0.1, le=300)


class ListRequest(PageRequest):
    """Which work items to list."""

    state: Literal["QUEUED", "RUNNING", "WAITING", "COMPLETED", "FAILED", "CANCELLED"] | None = None
    parent_id: str | None = Field(None, max_length=100, description="only those that this item started")
    tree: bool = Field(False, description="only those that no item started, and in `started` what is below each")
    heartbeats: bool = Field(False, description="heartbeats that are done, too")


class WorkView(Result):
    """A work item."""

    work_id: str
    kind: str
    title: str
    state: str
    waits_for: str | None
    action_id: str | None
    parent_id: str | None
    created_by: str
    on_behalf_of: str
    steps_done: int
    steps_total: int
    attempt: int
    holder: str | None
    max_steps: int
    max_seconds: float
    used_seconds: float
    created_at: str
    updated_at: str
    error: str | None
    message: str | None
    sequence: int

    @classmethod
    def of(cls, item: WorkItem) -> "WorkView":
        """The item as callers see it."""
        return cls(
            work_id=item.work_id,
            kind=item.kind,
            title=item.title,
            state=item.state.value,
            waits_for=item.waits_for.value if item.waits_for else None,
            action_id=item.action_id,
            parent_id=item.parent_id,
            created_by=item.created_by,
            on_behalf_of=str(item.on_behalf_of),
            steps_done=item.steps_done,
            steps_total=item.steps_total,
            attempt=item.attempt,
            holder=item.holder,
            max_steps=item.limits.max_steps,
            max_seconds=item.limits.max_seconds,
            used_seconds=round(item.used_us / 1_000_000, 3),
            created_at=rfc3339(item.created_ns),
            updated_at=rfc3339(item.updated_ns),
            error=item.error,
            message=item.message,
            sequence=item.sequence,
        )

    def text(self) -> str:
        waits = f" for {self.waits_for}{f' ({self.action_id})' if self.action_id else ''}" if self.waits_for else ""
        why = f": {self.error or ''}{' ' if self.error and self.message else ''}{self.message or ''}"
        # How many there will be is known of lists of calls alone.
        done = f"{self.steps_done} of " if self.steps_total else ""
        steps = f"{done}{plural(self.steps_total or self.steps_done, 'step')}"
        title = f" {self.title}" if self.title else ""
        return f"{self.work_id} {self.state}{waits}, {steps}{title}{why if why != ': ' else ''}"

    def follow_up(self) -> FollowUp | None:
        if self.state in (WorkState.COMPLETED, WorkState.FAILED, WorkState.CANCELLED):
            return None
        return FollowUp(show="work.show", cancel="work.cancel", arguments={"work_id": self.work_id})


class WorkShown(WorkView):
    """A work item with its steps, secrets left out, and the items that it started."""

    steps: tuple[JsonObject, ...] = ()
    children: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [
            f"{'✓' if number < self.steps_done else ' '} {number + 1}. {step['operation']}"
            for number, step in enumerate(self.steps)
        ]
        children = [f"started {', '.join(self.children)}"] if self.children else []
        return "\n".join([super().text(), *lines, *children])


class WorkPage(Result):
    """Work items, the newest first."""

    results: tuple[WorkView, ...]
    pagination: Pagination
    started: tuple[WorkView, ...] = Field((), description="with `tree`, what these started, at any depth, oldest first")
    left_out: bool = Field(False, description="whether more was started than is listed")
    hidden: int = Field(0, description="how many of them the owner's rules hide")

    def text(self) -> str:
        below: dict[str | None, list[WorkView]] = {}
        for view in self.started:
            below.setdefault(view.parent_id, []).append(view)
        lines: list[str] = []
        stack = [(0, view) for view in reversed(self.results)]
        while stack:
            depth, view = stack.pop()
            lines.append("  " * depth + view.text())
            stack += [(depth + 1, child) for child in reversed(below.get(view.work_id, ()))]
        more = ["[more was started than is listed]"] if self.left_out else []
        return ("\n".join([*lines, *more]) or "no work") + self.pagination.line(self.hidden)


class WorkEvent(Result):
    """One event of a work item, a heartbeat, or the gap that ends the stream."""

    event: JsonObject | None = None
    heartbeat: int | None = None
    stream_gap: JsonObject | None = None
