"""Plans by fixed rules: the first operations are known before anything is asked, others follow from results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codeplane.kernel.json import JsonValue
from codeplane.work.explore import agent_op
from codeplane.work.explore.agent_op import AgentOp
from codeplane.work.explore.plan import ExplorePlan
from codeplane.work.explore.readme import find_readme
from codeplane.work.explore.target import Target
from codeplane.work.explore.typed_result import TypedResult

MAP_STRUCTURE, SUMMARIZE_READMES, IDENTIFY_ENTRYPOINTS = "map structure", "summarize readmes", "identify entrypoints"
DEFAULT_GOALS = (MAP_STRUCTURE, SUMMARIZE_READMES, IDENTIFY_ENTRYPOINTS)
_MARKS = r"\b(TODO|FIXME|XXX|HACK)\b"
_MARKS_SHOWN, _GOAL_HITS = 20, 16
_READ_ENTRY_POINTS, _ENTRY_LINES = 3, 30
_README_LINES = 120
_GUIDES = ("architecture.md", "design.md", "contributing.md", "contributing.rst", "agents.md", "claude.md")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """What is added to a plan, and which of its operations are cancelled."""

    add: tuple[AgentOp, ...] = ()
    cancel: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not self.add and not self.cancel


class RulePlanner:
    """The rules for one target and its goals."""

    def __init__(self, target: Target, goals: Sequence[str]) -> None:
        self._target = target
        self._goals = tuple(goals)

    def first(self) -> list[AgentOp]:
        """The operations that every exploration begins with."""
        folder = self._target.folder
        index = AgentOp.new(agent_op.INDEX_REPO, path=folder)
        after_index = (index.op_id,)
        ops = [
            AgentOp.new(agent_op.GIT_STATUS, path=folder),
            AgentOp.new(agent_op.LIST_DIR, path=folder, depth=1),
            index,
            AgentOp.new(agent_op.COUNT_LINES, path=folder, priority=1),
        ]
        needs_files = [
            AgentOp.new(kind, path=folder, priority=2, depends_on=after_index)
            for kind in (agent_op.ENTRY_POINTS, agent_op.MAP_REPO, agent_op.MOST_USED)
        ]
        needs_files.append(
            AgentOp.new(agent_op.GREP, pattern=_MARKS, isRegex=True, k=_MARKS_SHOWN, priority=3, depends_on=after_index)
        )
        needs_files += [
            AgentOp.new(agent_op.SEMANTIC, query=goal, k=_GOAL_HITS, priority=3, depends_on=after_index)
            for goal in self._goals
            if goal not in DEFAULT_GOALS
        ]
        return [*ops, *needs_files]

    def observe(self, plan: ExplorePlan, op: AgentOp, result: TypedResult) -> PlanStep:
        """What follows from a result."""
        if op.kind == agent_op.LIST_DIR and isinstance(result.value, Mapping):
            if result.value.get("fileCount") == 0:
                # Nothing to map, to enter or to find.
                return PlanStep(cancel=tuple(each.op_id for each in plan.ops if each.depends_on))
            return self._after_listing(result.value, is_cut=result.truncated)
        if op.kind == agent_op.ENTRY_POINTS and isinstance(result.value, (list, tuple)):
            points = [point for point in result.value if isinstance(point, Mapping)]
            return PlanStep(add=tuple(_read_entry_point(point) for point in points[:_READ_ENTRY_POINTS]))
        return PlanStep()

    def _after_listing(self, listing: Mapping[str, JsonValue], *, is_cut: bool) -> PlanStep:
        entries = listing.get("entries")
        assert isinstance(entries, list)
        files = [str(entry["path"]) for entry in entries if isinstance(entry, Mapping) and not entry.get("isDir")]
        readme = find_readme(files)
        if readme is None and is_cut:
            # The listing ends before the files do.
            folder = f"{self._target.folder}/" if self._target.folder else ""
            readme = f"{folder}README.md"
        guides = [path for path in files if path.rpartition("/")[2].lower() in _GUIDES]
        summarized = [*([readme] if readme else []), *guides]
        if not summarized:
            return PlanStep()
        ops = [AgentOp.new(agent_op.SUMMARIZE, paths=summarized, priority=1)]
        if readme:
            ops.append(AgentOp.new(agent_op.READ_SPAN, path=readme, startLine=1, endLine=_README_LINES, priority=1))
        return PlanStep(add=tuple(ops))


def _read_entry_point(point: Mapping[str, JsonValue]) -> AgentOp:
    """The lines that an entry point begins with."""
    path = str(point.get("definedIn") or point["path"])
    line = point.get("definedLine") if point.get("definedIn") else point.get("line")
    first = line if isinstance(line, int) else 1
    return AgentOp.new(agent_op.READ_SPAN, path=path, startLine=first, endLine=first + _ENTRY_LINES - 1, priority=2)
