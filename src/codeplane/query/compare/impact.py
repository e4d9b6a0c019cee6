"""The impact of a change: references in the present index, importing files, and tests."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from codeplane.code.entity import Bound, Meaning
from codeplane.code.model import Facts
from codeplane.code.resolve.references import references
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.tier import TIERS
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.path_kinds import is_test
from codeplane.query.compare.change import Change

# Places that are looked at: for all changes, and for one of them.
WORK = 8000
_ONE_WORK = 2000
_MOST = 1000
_MOST_REFERENCES = 1000
_MOST_LOOKS = 4
# Whatever the places cost, an answer does not wait longer.
_LONGEST_SEC = 20.0
_NAMED = 20
# What is no longer where it was, under the name it had.
GONE = frozenset({"removed", "renamed", "moved"})


class CachingResolver(Resolver):
    """A resolver that caches the meanings of one name's occurrences, and counts the lookups."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.spent = 0
        self._looked_for = ""
        self._found_at: dict[tuple[str, int], Meaning] = {}

    def at(self, path: str, offset: int, name: str) -> Meaning:
        """The meaning of the name at a place."""
        if name != self._looked_for:
            # Changes come sorted by their names.
            self._looked_for, self._found_at = name, {}
        meaning = self._found_at.get((path, offset))
        if meaning is None:
            self.spent += 1
            meaning = self._found_at[path, offset] = super().at(path, offset, name)
        return meaning


@dataclass(slots=True)
class Impact:
    """The impact of one change; `basis` says whether it is complete."""

    basis: str = "unknown"
    tiers: Counter[str] = field(default_factory=Counter)
    referencing: set[str] = field(default_factory=set)
    importing: set[str] = field(default_factory=set)
    is_cut: bool = False
    # How often it was looked for; each time it may take more.
    looks: int = 1

    @property
    def count(self) -> int:
        """The number of references."""
        return self.tiers.total()

    @property
    def tests(self) -> list[str]:
        """The tests among the referencing files."""
        return sorted(path for path in self.referencing | self.importing if is_test(path))[:_NAMED]

    @property
    def is_sure(self) -> bool:
        """Whether the search was complete and most references are certain."""
        sure = self.tiers["PROVEN"] + self.tiers["STRONG"]
        return self.basis == "ref_facts_resolved" and 2 * sure >= self.count


class Impacts:
    """Finds the impact of changes, the most important first, within a time limit."""

    def __init__(self, world: World, store: FactStore, *, is_present: bool) -> None:
        """`is_present`: the later state is the indexed one."""
        self._world = world
        self._store = store
        self._is_present = is_present
        self.found: dict[int, Impact] = {}

    def settle(self, changes: Iterable[Change]) -> None:
        """Clear the breaking flag of removed members that the class still inherits from an unchanged file."""
        if not self._is_present:
            return
        resolver = Resolver(self._world)
        for change in changes:
            before, new = change.pair.before, change.pair.new
            if not change.breaking or change.change != "removed" or before is None or before.parent < 0:
                continue
            old = change.pair.old
            assert old is not None and new is None
            above = old.entities[before.parent]
            facts = self._world.facts(old.path)
            for definition in facts.definitions if facts is not None else ():
                if definition.path == above.path and definition.kind == above.kind:
                    member, _ = resolver.member(Bound(old.path, definition.scope, definition.name), before.name)
                    if member is not None and member.file != old.path:
                        change.breaking, change.risk = False, "medium"
                        change.why = (f"still there, from {member.file}",)
                    break

    def search(self, changes: Iterable[Change], *, work: int = WORK) -> None:
        """Find the impact of changes; what exceeds the limits stays partial or unknown, see `count_truncated`.

        On a repeated question, searches that were cut run again with four times the work each.
        """
        wanted = [candidate for candidate in changes if _is_wanted(candidate) and self._is_open(candidate)]
        costs = {name: len(self._store.files_with(name.strip("#@?!") or name)) for name in set(map(_name, wanted))}
        # Of what matters as much, rare names first: they cost least and are the surest.
        wanted.sort(
            key=lambda change_wanted: (*_matters(change_wanted), costs[_name(change_wanted)], _name(change_wanted))
        )
        meanings = CachingResolver(self._world)
        deadline = time.monotonic() + _LONGEST_SEC
        for change in wanted[:_MOST]:
            if meanings.spent >= work or time.monotonic() > deadline:
                return
            before = self.found.get(id(change))
            impact = Impact(looks=before.looks + 1 if before is not None else 1)
            # Whatever goes wrong in here is no reason not to say what changed.
            with suppress(Exception):
                allowed = meanings.spent + _ONE_WORK * 4 ** (impact.looks - 1)
                most = min(work, allowed) if before is None else allowed
                self._look_for(change, impact, meanings, partial(_is_over, meanings, most, deadline))
            if before is None or impact.count >= before.count or not impact.is_cut:
                self.found[id(change)] = impact

    def _is_open(self, change: Change) -> bool:
        impact = self.found.get(id(change))
        return impact is None or (impact.is_cut and impact.count < _MOST_REFERENCES and impact.looks < _MOST_LOOKS)

    def count_truncated(self, changes: Iterable[Change]) -> int:
        """The number of changes whose impact is incomplete."""
        wanted = [self.found.get(id(change)) for change in changes if _is_wanted(change)]
        return sum(
            found_impact is None or found_impact.basis == "unknown" or found_impact.is_cut for found_impact in wanted
        )

    def of(self, change: Change) -> Impact | None:
        """The impact of a change, if it was searched."""
        return self.found.get(id(change))

    def _look_for(self, change: Change, impact: Impact, meanings: CachingResolver, is_over: Callable[[], bool]) -> None:
        bound = self._find_binding(change)
        gone = change.change in GONE and change.pair.before is not None
        name = _name(change)
        whole = False
        if bound is None:
            self._count_importers(change, name, impact)
        else:
            taken: dict[str, bool] = {}

            looked = references(
                self._world,
                self._store,
                [bound],
                keep=lambda path: not is_over(),
                receivers=False,
                resolver=meanings,
            )
            for reference in looked:
                if impact.count >= _MOST_REFERENCES:
                    break
                if reference.role == "DEFINITION":
                    continue
                tier = reference.tier
                if tier == "UNKNOWN" and gone and bound.scope == 0:
                    # Nothing binds the name any more; who imports it from there means it all the same.
                    if reference.path not in taken:
                        taken[reference.path] = self._takes(reference.path, name, bound.file)
                    tier = "STRONG" if taken[reference.path] else tier
                impact.tiers[tier] += 1
                impact.referencing.add(reference.path)
                if reference.role == "IMPORT":
                    impact.importing.add(reference.path)
            else:
                whole = not is_over()
            impact.is_cut = not whole
        impact.basis = "ref_facts_resolved" if whole and self._is_present else "ref_facts_partial"

    def _find_binding(self, change: Change) -> Bound | None:
        """The indexed binding of a change, or of the place it was in."""
        gone = change.change in GONE
        outline, entity = (change.pair.old, change.pair.before) if gone else (change.pair.new, change.pair.after)
        if outline is None or entity is None:
            return None
        facts = self._world.facts(outline.path)
        if facts is None:
            return None
        for definition in facts.definitions:
            if definition.path == entity.path and definition.kind == entity.kind:
                return Bound(outline.path, definition.scope, definition.name)
        if entity.parent < 0:
            return Bound(outline.path, 0, entity.name)
        above = outline.entities[entity.parent]
        return _member_of(facts, outline.path, above.path, entity.name)

    def _takes(self, path: str, name: str, module: str) -> bool:
        """Whether a file imports a name from a module."""
        facts = self._world.facts(path)
        modules = self._world.modules(facts) if facts is not None else None
        if facts is None or modules is None:
            return False
        return any(item.imported == name and module in modules.find(item.source, path) for item in facts.imports)

    def _count_importers(self, change: Change, name: str, impact: Impact) -> None:
        """For a deleted file, count the files that import the name from a module of that name."""
        stem = change.path.rpartition("/")[2].partition(".")[0]
        package = change.path.rpartition("/")[0].rpartition("/")[2]
        wanted = package if stem in ("__init__", "index", "mod") else stem
        for path, _ in self._store.files_with(name)[:_MOST_REFERENCES]:
            facts = self._world.facts(path)
            if facts is None or path == change.path:
                continue
            for item in facts.imports:
                parts = item.source.replace("\\", "/").replace("::", "/").replace(".", "/").split("/")
                if item.imported == name and wanted in parts[-2:]:
                    impact.tiers["UNKNOWN"] += 1
                    impact.importing.add(path)
                    impact.referencing.add(path)


def _member_of(facts: Facts, path: str, above: str, name: str) -> Bound | None:
    for index, definition in enumerate(facts.definitions):
        if definition.path == above and index in facts.body_of:
            return Bound(path, facts.body_of[index], name)
    return None


def _is_wanted(change: Change) -> bool:
    return change.change != "added" and not change.is_module


def _is_over(meanings: CachingResolver, most: int, deadline: float) -> bool:
    return meanings.spent >= most or time.monotonic() > deadline


def _name(change: Change) -> str:
    """The name by which users know it."""
    before = change.pair.before
    return before.name if change.change in GONE and before is not None else change.pair.now.name


def _matters(change: Change) -> tuple[bool, int]:
    order = {"signature_changed": 0, "removed": 1, "renamed": 2, "moved": 2, "body_changed": 3}
    return (not change.breaking, order.get(change.change, 4))


def tiers_of(impact: Impact) -> dict[str, int]:
    """The number of references of every tier."""
    return {tier.lower(): impact.tiers[tier] for tier in TIERS}


def first_files(paths: Iterable[str]) -> tuple[str, ...]:
    """The first files in order."""
    return tuple(sorted(paths)[:_NAMED])
