"""A schedule and its wake-ups, as their tables have them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from codeplane.kernel.actor import Actor
from codeplane.kernel.ids import derived_event_id
from codeplane.ledger.rows import Cell
from codeplane.work.schedules.trigger import Trigger, TriggerKind, parse_trigger
from codeplane.work.turns.budget import TurnBudget


class MissedPolicy(StrEnum):
    """What becomes of times that came while no server ran."""

    CATCH_UP = "catch_up"
    SKIP = "skip"


class OverlapPolicy(StrEnum):
    """What becomes of a time that comes while the run before has not ended."""

    SKIP = "skip"
    ALLOW = "allow"


class WakeupKind(StrEnum):
    """Why a wake-up was made: its time came, it was caught up on, or somebody asked for it."""

    SCHEDULED = "scheduled"
    CATCH_UP = "catch_up"
    MANUAL = "manual"


class WakeupState(StrEnum):
    """What became of a wake-up."""

    CREATED = "CREATED"
    STARTED = "STARTED"
    SKIPPED = "SKIPPED"
    MISSED = "MISSED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """One schedule; `sequence` and `wakeup_sequence` are the heads of its two streams."""

    schedule_id: str
    name: str
    trigger_kind: TriggerKind
    trigger_spec: str
    timezone: str
    enabled: bool
    next_ns: int | None
    last_ns: int | None
    last_wakeup_id: str | None
    anchor_ns: int
    goal: str
    thread_id: str
    owns_thread: bool
    budget: TurnBudget
    max_wall_time_ms: int
    heartbeat: bool
    changes_files: bool
    missed_policy: MissedPolicy
    overlap_policy: OverlapPolicy
    created_by: str
    on_behalf_of: Actor
    node: str
    stop_reason: str
    runs: int
    skipped: int
    missed: int
    created_ns: int
    updated_ns: int
    sequence: int
    wakeup_sequence: int

    @property
    def trigger(self) -> Trigger:
        """Its times."""
        return parse_trigger(self.trigger_kind, self.trigger_spec, self.timezone, anchor_ns=self.anchor_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wakeup:
    """One time of a schedule that has come; `older` counts the times before it that were missed."""

    wakeup_id: str
    schedule_id: str
    scheduled_ns: int
    kind: WakeupKind
    state: WakeupState
    older: int
    is_counted: bool
    job_id: str
    turn_id: str
    reason: str
    created_ns: int


def wakeup_id_of(schedule_id: str, scheduled_ns: int) -> str:
    """The id of a wake-up, the same for the same schedule and time."""
    return derived_event_id("wakeup", schedule_id, str(scheduled_ns))


SCHEDULE_COLUMNS = (
    "schedule_id, name, trigger_kind, trigger_spec, timezone, enabled, next_ns, last_ns, last_wakeup_id, anchor_ns, "
    "goal, thread_id, owns_thread, max_tool_steps, max_tool_tokens, max_context_messages, max_wall_time_ms, "
    "heartbeat, changes_files, missed_policy, overlap_policy, created_by, on_behalf_of, node, stop_reason, runs, "
    "skipped, missed, created_ns, updated_ns"
)
# With the heads of both streams, as they were when the row was read.
SELECT_SCHEDULES = (
    f"SELECT {SCHEDULE_COLUMNS}, coalesce((SELECT head FROM streams WHERE stream = 'schedule/' || schedule_id), 0), "
    "coalesce((SELECT head FROM streams WHERE stream = 'wakeup/' || schedule_id), 0) FROM schedules"
)
WAKEUP_COLUMNS = (
    "wakeup_id, schedule_id, scheduled_ns, kind, state, older, is_counted, job_id, turn_id, reason, created_ns"
)


def schedule_from_row(row: Sequence[Cell]) -> Schedule:
    """The schedule in a row of SELECT_SCHEDULES."""
    (schedule_id, name, trigger_kind, trigger_spec, timezone, enabled, next_ns, last_ns, last_wakeup_id, anchor_ns,
     goal, thread_id, owns_thread, max_tool_steps, max_tool_tokens, max_context_messages, max_wall_time_ms, heartbeat,
     changes_files, missed_policy, overlap_policy, created_by, on_behalf_of, node, stop_reason, runs, skipped, missed,
     created_ns, updated_ns, sequence, wakeup_sequence) = row  # fmt: skip
    return Schedule(
        schedule_id=str(schedule_id),
        name=str(name),
        trigger_kind=TriggerKind(str(trigger_kind)),
        trigger_spec=str(trigger_spec),
        timezone=str(timezone),
        enabled=bool(enabled),
        next_ns=_optional(next_ns),
        last_ns=_optional(last_ns),
        last_wakeup_id=None if last_wakeup_id is None else str(last_wakeup_id),
        anchor_ns=int(str(anchor_ns)),
        goal=str(goal),
        thread_id=str(thread_id),
        owns_thread=bool(owns_thread),
        budget=TurnBudget(
            max_tool_steps=int(str(max_tool_steps)),
            max_tool_tokens=int(str(max_tool_tokens)),
            max_context_messages=int(str(max_context_messages)),
        ),
        max_wall_time_ms=int(str(max_wall_time_ms)),
        heartbeat=bool(heartbeat),
        changes_files=bool(changes_files),
        missed_policy=MissedPolicy(str(missed_policy)),
        overlap_policy=OverlapPolicy(str(overlap_policy)),
        created_by=str(created_by),
        on_behalf_of=Actor.from_json(json.loads(str(on_behalf_of))),
        node=str(node),
        stop_reason=str(stop_reason),
        runs=int(str(runs)),
        skipped=int(str(skipped)),
        missed=int(str(missed)),
        created_ns=int(str(created_ns)),
        updated_ns=int(str(updated_ns)),
        sequence=int(str(sequence)),
        wakeup_sequence=int(str(wakeup_sequence)),
    )


def wakeup_from_row(row: Sequence[Cell]) -> Wakeup:
    """The wake-up in a row of its table."""
    wakeup_id, schedule_id, scheduled_ns, kind, state, older, is_counted, job_id, turn_id, reason, created_ns = row
    return Wakeup(
        wakeup_id=str(wakeup_id),
        schedule_id=str(schedule_id),
        scheduled_ns=int(str(scheduled_ns)),
        kind=WakeupKind(str(kind)),
        state=WakeupState(str(state)),
        older=int(str(older)),
        is_counted=bool(is_counted),
        job_id=str(job_id),
        turn_id=str(turn_id),
        reason=str(reason),
        created_ns=int(str(created_ns)),
    )


def _optional(cell: Cell) -> int | None:
    return None if cell is None else int(str(cell))
