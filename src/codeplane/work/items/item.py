"""A work item: its state, whom it acts for, who runs it, and how far it has come."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from codeplane.kernel.actor import Actor, ActorKind, Origin
from codeplane.kernel.call import Call
from codeplane.ledger.rows import Cell


class WorkState(StrEnum):
    """The state of a work item."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    WAITING = "WAITING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class WaitReason(StrEnum):
    """What a waiting item waits for."""

    APPROVAL = "approval"
    BUDGET = "budget"


class Priority(IntEnum):
    """Which of the items that can run comes first: the lowest number."""

    CHAT = 0
    CALLBACK = 1
    JOB = 2
    SCHEDULE = 3
    HEARTBEAT = 4


ENDED = frozenset({WorkState.COMPLETED, WorkState.FAILED, WorkState.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkLimits:
    """What an item may use up over all of its runs."""

    max_steps: int
    max_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """One unit of work as its table has it; `sequence` is the head of its stream."""

    work_id: str
    kind: str
    title: str
    state: WorkState
    parent_id: str | None
    created_by: str
    on_behalf_of: Actor
    waits_for: WaitReason | None
    action_id: str | None
    holder: str | None
    lease_until_ns: int
    attempt: int
    steps_done: int
    steps_total: int
    used_us: int
    # How long it has run, steps that failed and pauses between steps included, but not waits and restarts.
    ran_us: int
    priority: Priority
    limits: WorkLimits
    payload_hash: str
    created_ns: int
    updated_ns: int
    error: str | None
    message: str | None
    sequence: int

    @property
    def stream(self) -> str:
        """The stream of its transitions and steps."""
        return work_stream(self.work_id)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in ENDED

    @property
    def actor(self) -> Actor:
        """Who its calls are made by."""
        return Actor(kind=ActorKind.JOB, actor_id=self.work_id, owner_id=self.on_behalf_of.owner_id)

    def origin(self, step: int, node: str) -> Origin:
        """The origin of the call that is one of its steps."""
        return Origin(work_id=self.work_id, step=step, on_behalf_of=self.on_behalf_of, node=node)


def delegator(call: Call) -> Actor:
    """Whom new work acts for: the caller, or whom the caller acts for itself."""
    origin = call.caller.origin
    return origin.on_behalf_of if origin is not None and origin.on_behalf_of is not None else call.actor


COLUMNS = (
    "work_id, kind, title, state, parent_id, created_by, on_behalf_of, waits_for, action_id, holder, lease_until_ns, "
    "attempt, steps_done, steps_total, used_us, ran_us, priority, max_steps, max_seconds, payload_hash, created_ns, "
    "updated_ns, error, message, sequence"
)


def work_stream(work_id: str) -> str:
    """The stream of a work item."""
    return f"work/{work_id}"


def item_from_row(row: Sequence[Cell]) -> WorkItem:
    """The item in a row of the table."""
    (work_id, kind, title, state, parent_id, created_by, on_behalf_of, waits_for, action_id, holder, lease_until_ns,
     attempt, steps_done, steps_total, used_us, ran_us, priority, max_steps, max_seconds, payload_hash, created_ns,
     updated_ns, error, message, sequence) = row  # fmt: skip
    return WorkItem(
        work_id=str(work_id),
        kind=str(kind),
        title=str(title),
        state=WorkState(str(state)),
        parent_id=_text(parent_id),
        created_by=str(created_by),
        on_behalf_of=Actor.from_json(json.loads(str(on_behalf_of))),
        waits_for=None if waits_for is None else WaitReason(str(waits_for)),
        action_id=_text(action_id),
        holder=_text(holder),
        lease_until_ns=int(str(lease_until_ns)),
        attempt=int(str(attempt)),
        steps_done=int(str(steps_done)),
        steps_total=int(str(steps_total)),
        used_us=int(str(used_us)),
        ran_us=int(str(ran_us)),
        priority=Priority(int(str(priority))),
        limits=WorkLimits(max_steps=int(str(max_steps)), max_seconds=float(str(max_seconds))),
        payload_hash=str(payload_hash),
        created_ns=int(str(created_ns)),
        updated_ns=int(str(updated_ns)),
        error=_text(error),
        message=_text(message),
        sequence=int(str(sequence)),
    )


def _text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)
