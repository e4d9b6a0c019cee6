"""A plan that grows: each snapshot has all operations so far, and names those that are cancelled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from codeplane.kernel.ids import uuid7
from codeplane.kernel.json import JsonObject
from codeplane.work.explore.agent_op import AgentOp

MAX_OPS = 200


@dataclass(slots=True, kw_only=True)
class ExplorePlan:
    """The operations of one exploration, in the order in which they were planned."""

    goals: tuple[str, ...]
    plan_id: str = field(default_factory=uuid7)
    ops: list[AgentOp] = field(default_factory=list)
    snapshot_id: int = 0
    # Operations that were planned and found no place in the plan.
    left_out: int = 0
    _hashes: set[int] = field(default_factory=set)

    def append(self, ops: Iterable[AgentOp]) -> list[AgentOp]:
        """Add operations that are not in the plan yet, up to its bound; returns those that were added."""
        added: list[AgentOp] = []
        for op in ops:
            if op.op_hash in self._hashes:
                continue
            if len(self.ops) >= MAX_OPS:
                self.left_out += 1
                continue
            self._hashes.add(op.op_hash)
            self.ops.append(op)
            added.append(op)
        return added

    def snapshot(self, cancel: Sequence[str] = ()) -> JsonObject:
        """The next snapshot, with a number that follows the one before."""
        self.snapshot_id += 1
        return {
            "planId": self.plan_id,
            "snapshotId": self.snapshot_id,
            "prevSnapshotId": self.snapshot_id - 1 or None,
            "goals": list(self.goals),
            "nextOps": [op.to_wire() for op in self.ops],
            "cancelOps": list(cancel),
            **({"leftOut": self.left_out} if self.left_out else {}),
        }

    @classmethod
    def from_snapshot(cls, snapshot: JsonObject) -> "ExplorePlan":
        """The plan as a recorded snapshot has it."""
        goals, ops, number = snapshot["goals"], snapshot["nextOps"], snapshot["snapshotId"]
        assert isinstance(goals, list) and isinstance(ops, list) and isinstance(number, int)
        plan = cls(goals=tuple(map(str, goals)), plan_id=str(snapshot["planId"]))
        plan.append(AgentOp.from_wire(op) for op in ops if isinstance(op, dict))
        plan.snapshot_id = number
        return plan
