"""An operation of a plan: what it asks for, who it is, and how equal ones are recognised."""

from collections.abc import Mapping
from dataclasses import dataclass

import xxhash

from codeplane.kernel.ids import uuid7
from codeplane.kernel.json import JsonObject, JsonValue, canonical

# The kinds of the specification, and behind them those that only this engine has.
INDEX_REPO, LIST_DIR, GREP, SEMANTIC, READ_SPAN, SUMMARIZE = (
    "indexRepo",
    "listDir",
    "grep",
    "semantic",
    "readSpan",
    "summarize",
)
GIT_STATUS, COUNT_LINES, MAP_REPO, ENTRY_POINTS, MOST_USED = (
    "gitStatus",
    "countLines",
    "mapRepo",
    "entryPoints",
    "mostUsed",
)
KINDS = frozenset(
    {INDEX_REPO, LIST_DIR, GREP, SEMANTIC, READ_SPAN, SUMMARIZE}
    | {GIT_STATUS, COUNT_LINES, MAP_REPO, ENTRY_POINTS, MOST_USED}
)
# Read from the disk or from git, whether or not there is an index.
_WITHOUT_INDEX = frozenset({READ_SPAN, SUMMARIZE, GIT_STATUS})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOp:
    """One operation; those it depends on end well before it starts, or it is dropped."""

    op_id: str
    kind: str
    params: Mapping[str, JsonValue]
    priority: int = 0
    depends_on: tuple[str, ...] = ()

    @classmethod
    def new(cls, kind: str, *, priority: int = 0, depends_on: tuple[str, ...] = (), **params: JsonValue) -> "AgentOp":
        """An operation with an id of its own; params that are None are left out."""
        given = {name: value for name, value in params.items() if value is not None}
        return cls(op_id=uuid7(), kind=kind, params=given, priority=priority, depends_on=depends_on)

    @property
    def op_hash(self) -> int:
        """The same number for the same kind and params."""
        return xxhash.xxh32_intdigest(canonical([self.kind, dict(self.params)]))

    @property
    def waits_for_index(self) -> bool:
        """Whether it cannot be answered before there is an index."""
        return self.kind not in _WITHOUT_INDEX

    def to_wire(self) -> JsonObject:
        """The operation as plans show it."""
        return {
            "opId": self.op_id,
            "opHash": self.op_hash,
            "kind": self.kind,
            "params": dict(self.params),
            "priority": self.priority,
            **({"dependsOn": list(self.depends_on)} if self.depends_on else {}),
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, JsonValue]) -> "AgentOp":
        """The operation that `to_wire` wrote."""
        params, depends, priority = wire["params"], wire.get("dependsOn"), wire.get("priority")
        assert isinstance(params, dict)
        return cls(
            op_id=str(wire["opId"]),
            kind=str(wire["kind"]),
            params=params,
            priority=priority if isinstance(priority, int) else 0,
            depends_on=tuple(map(str, depends)) if isinstance(depends, list) else (),
        )
