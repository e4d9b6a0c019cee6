"""A job: what it is for, and its state, which is that of its work item in other words."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from codeplane.kernel.event import Correlation
from codeplane.ledger.rows import Cell
from codeplane.work.items.item import COLUMNS as WORK_COLUMNS
from codeplane.work.items.item import WaitReason, WorkItem, WorkState, item_from_row

# The kind of its work item, whose id is the job's.
KIND = "job"


class JobStatus(StrEnum):
    """The state of a job."""

    RUNNING = "JOB_RUNNING"
    WAITING_APPROVAL = "JOB_WAITING_APPROVAL"
    COMPLETED = "JOB_COMPLETED"
    FAILED = "JOB_FAILED"
    PAUSED_BUDGET = "JOB_PAUSED_BUDGET"
    CANCELLED = "JOB_CANCELLED"


class TreeState(StrEnum):
    """What became of the files that a job changes."""

    NONE = "JOB_TREE_NONE"
    OPEN = "JOB_TREE_OPEN"
    APPLIED = "JOB_TREE_APPLIED"
    DISCARDED = "JOB_TREE_DISCARDED"


_STATUSES = {
    (WorkState.WAITING, WaitReason.APPROVAL): JobStatus.WAITING_APPROVAL,
    (WorkState.WAITING, WaitReason.BUDGET): JobStatus.PAUSED_BUDGET,
    (WorkState.COMPLETED, None): JobStatus.COMPLETED,
    (WorkState.FAILED, None): JobStatus.FAILED,
    (WorkState.CANCELLED, None): JobStatus.CANCELLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job as the tables have it."""

    item: WorkItem
    goal: str
    thread_id: str
    turn_id: str
    trigger_type: str
    trigger_source_id: str
    scheduled_for_ns: int | None
    changes_files: bool
    callback_thread_id: str | None
    has_called_back: bool
    toolset: str
    model: str
    tree: TreeState
    base_commit: str
    # How many files it changed, once that is known.
    changed_files: int | None
    # What applied its changes to the checkout.
    mutation_id: str
    # The outside agent that runs it; empty where a model does.
    agent: str

    @property
    def job_id(self) -> str:
        """Its id, which is that of its work item too."""
        return self.item.work_id

    @property
    def status(self) -> JobStatus:
        """Its state; one that is queued counts as running."""
        return _STATUSES.get((self.item.state, self.item.waits_for), JobStatus.RUNNING)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens to it."""
        return self.item.has_ended

    @property
    def ids(self) -> Correlation:
        """The ids of everything that happens in it."""
        return Correlation(thread_id=self.thread_id, turn_id=self.turn_id, job_id=self.job_id, work_id=self.job_id)


_OWN_COLUMNS = (
    "goal, thread_id, turn_id, trigger_type, trigger_source_id, scheduled_for_ns, changes_files, callback_thread_id, "
    "has_called_back, toolset, model, tree, base_commit, changed_files, mutation_id, agent"
)
_WORK = ", ".join(f"w.{column.strip()}" for column in WORK_COLUMNS.split(","))
_OWN = ", ".join(f"j.{column.strip()}" for column in _OWN_COLUMNS.split(","))
SELECT = f"SELECT {_OWN}, {_WORK} FROM jobs j JOIN work_items w ON w.work_id = j.job_id"


def job_from_row(row: Sequence[Cell]) -> Job:
    """The job in a row of SELECT."""
    (goal, thread_id, turn_id, trigger_type, trigger_source_id, scheduled_for_ns, changes_files, callback_thread_id,
     has_called_back, toolset, model, tree, base_commit, changed_files, mutation_id, agent, *work) = row  # fmt: skip
    return Job(
        item=item_from_row(work),
        goal=str(goal),
        thread_id=str(thread_id),
        turn_id=str(turn_id),
        trigger_type=str(trigger_type),
        trigger_source_id=str(trigger_source_id),
        scheduled_for_ns=None if scheduled_for_ns is None else int(str(scheduled_for_ns)),
        changes_files=bool(changes_files),
        callback_thread_id=None if callback_thread_id is None else str(callback_thread_id),
        has_called_back=bool(has_called_back),
        toolset=str(toolset),
        model=str(model),
        tree=TreeState(str(tree)),
        base_commit=str(base_commit),
        changed_files=None if changed_files is None else int(str(changed_files)),
        mutation_id=str(mutation_id),
        agent=str(agent),
    )
