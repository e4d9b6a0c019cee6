"""The queue of an exploration's operations: by priority, then in their order, within the bounds of concurrency."""

from collections.abc import Collection, Iterable
from enum import StrEnum

from codeplane.work.explore.agent_op import GREP, AgentOp
from codeplane.work.explore.concurrency import GREP_PARALLEL, Concurrency


class OpState(StrEnum):
    """Where an operation is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELED = "canceled"


class OpQueue:
    """Operations that wait, run and have ended."""

    def __init__(self) -> None:
        self._ops: dict[str, AgentOp] = {}
        self._states: dict[str, OpState] = {}
        # Running operations that were cancelled: they finish, and what depends on them is dropped.
        self._doomed: set[str] = set()
        self.is_index_ready = False

    def add(self, ops: Iterable[AgentOp]) -> None:
        """Queue operations behind those of the same priority."""
        for op in ops:
            self._ops[op.op_id] = op
            self._states[op.op_id] = OpState.QUEUED

    def state(self, op_id: str) -> OpState | None:
        """The state of an operation; None for one that was never queued."""
        return self._states.get(op_id)

    def count(self, state: OpState) -> int:
        """How many operations are in a state."""
        return sum(found is state for found in self._states.values())

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits or runs."""
        return not self.count(OpState.QUEUED) and not self.count(OpState.RUNNING)

    def take(self, concurrency: Concurrency) -> list[AgentOp]:
        """The operations that start now; they count as running from here on."""
        started: list[AgentOp] = []
        # Stable: those of one priority stay in the order in which they came.
        for op in sorted(self._in(OpState.QUEUED), key=lambda op: op.priority):
            if self.count(OpState.RUNNING) >= concurrency.max_in_flight_ops:
                break
            if self._is_ready(op) and self._has_place(op, concurrency):
                self._states[op.op_id] = OpState.RUNNING
                started.append(op)
        return started

    def finish(self, op_id: str, *, ok: bool) -> list[AgentOp]:
        """Take note that a running operation ended; returns its dependents when they are dropped."""
        self._states[op_id] = OpState.DONE if ok else OpState.FAILED
        if ok and op_id not in self._doomed:
            return []
        return self._drop_dependents({op_id})

    def cancel(self, op_ids: Collection[str]) -> list[AgentOp]:
        """Drop queued operations and their dependents; running ones finish first. Returns those that were dropped."""
        dropped = [op for op in self._in(OpState.QUEUED) if op.op_id in op_ids]
        self._doomed |= {op_id for op_id in op_ids if self._states.get(op_id) is OpState.RUNNING}
        for op in dropped:
            self._states[op.op_id] = OpState.CANCELED
        return dropped + self._drop_dependents({op.op_id for op in dropped})

    def _drop_dependents(self, op_ids: set[str]) -> list[AgentOp]:
        dropped: list[AgentOp] = []
        while found := [op for op in self._in(OpState.QUEUED) if op_ids & set(op.depends_on)]:
            for op in found:
                self._states[op.op_id] = OpState.CANCELED
                op_ids.add(op.op_id)
            dropped += found
        return dropped

    def _is_ready(self, op: AgentOp) -> bool:
        return all(self._states.get(needed) is OpState.DONE for needed in op.depends_on)

    def _has_place(self, op: AgentOp, concurrency: Concurrency) -> bool:
        running = self._in(OpState.RUNNING)
        if op.kind == GREP and sum(each.kind == GREP for each in running) >= concurrency.op_caps[GREP_PARALLEL]:
            return False
        if self.is_index_ready or not op.waits_for_index:
            return True
        # What waits for the index never fills all places, unless there is only one.
        waiting = sum(each.waits_for_index for each in running)
        return waiting < max(1, concurrency.max_in_flight_ops - 1)

    def _in(self, state: OpState) -> list[AgentOp]:
        return [op for op_id, op in self._ops.items() if self._states[op_id] is state]
