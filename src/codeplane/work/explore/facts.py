"""What an exploration has learnt so far, from the results of its operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.work.explore import agent_op
from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.typed_result import TypedResult

_MAX_NOTES = 20


@dataclass(slots=True)
class Facts:
    """The newest payload of each kind of operation, and what was not whole."""

    listing: JsonObject = field(default_factory=dict)
    git: JsonObject = field(default_factory=dict)
    lines: JsonObject = field(default_factory=dict)
    map: JsonObject = field(default_factory=dict)
    entry_points: list[JsonObject] = field(default_factory=list)
    more_entry_points: bool = False
    symbols: list[JsonObject] = field(default_factory=list)
    summaries: list[JsonObject] = field(default_factory=list)
    marks: list[JsonObject] = field(default_factory=list)
    more_marks: bool = False
    # The files that speak of each goal which has no rule of its own.
    by_goal: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, op: AgentOp, result: TypedResult) -> None:
        """Take over what a result says."""
        value = result.value
        match op.kind:
            case agent_op.LIST_DIR if op.params.get("depth") == 1:
                self.listing = _object(value)
            case agent_op.GIT_STATUS:
                self.git = _object(value)
            case agent_op.COUNT_LINES:
                self.lines = _object(value)
            case agent_op.MAP_REPO:
                self.map = _object(value)
            case agent_op.ENTRY_POINTS:
                self.entry_points, self.more_entry_points = _objects(value), result.truncated
            case agent_op.MOST_USED:
                self.symbols = _objects(value)
            case agent_op.SUMMARIZE:
                self.summaries += _objects(value)
            case agent_op.GREP:
                self.marks, self.more_marks = _objects(value), result.truncated
            case agent_op.SEMANTIC:
                paths = [str(hit["path"]) for hit in _objects(value)]
                self.by_goal[str(op.params["query"])] = list(dict.fromkeys(paths))[:8]

    def note(self, text: str) -> None:
        """Keep something that the summary has to say, once and within a bound."""
        if text and text not in self.notes and len(self.notes) < _MAX_NOTES:
            self.notes.append(text)

    def lines_for_model(self) -> list[str]:
        """A summary of the facts for the model that plans."""
        found: list[str] = []
        if languages := self.lines.get("languages"):
            shares = [f"{name} {count}" for name, count in _object(languages).items()][:8]
            found.append(f"lines of each language: {', '.join(shares)}")
        names = [str(entry["path"]) + "/" * bool(entry["isDir"]) for entry in _objects(self.listing.get("entries"))]
        if names:
            found.append(f"the root holds: {', '.join(names[:60])}")
        points = [f"{point.get('definedIn') or point['path']} ({point['kind']})" for point in self.entry_points[:10]]
        if points:
            found.append(f"entry points: {', '.join(points)}")
        found += [f"{item['path']} says: {item['title']}. {item['text']}"[:400] for item in self.summaries[:3]]
        found += [f"files about {goal!r}: {', '.join(paths)}" for goal, paths in self.by_goal.items()]
        return found


def _object(value: JsonValue) -> JsonObject:
    return dict(value) if isinstance(value, Mapping) else {}


def _objects(value: JsonValue) -> list[JsonObject]:
    return [dict(item) for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []
