"""Who a change reaches: references in the present index, the files that import it, the tests among them."""

import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from codeplane.repo.compare.change import Change
from codeplane.repo.facts.model import Facts
from codeplane.repo.index.facts import FactStore
from codeplane.repo.resolve.entity import Bound
from codeplane.repo.resolve.references import TIERS, references
from codeplane.repo.resolve.resolver import Resolver
from codeplane.repo.resolve.world import World
from codeplane.repo.search.scope import is_test

BUDGET_SEC = 2.0
_ONE_SEC = 0.4
_MOST = 400
_MOST_REFERENCES = 1000
_NAMED = 20
_CHECKED = 32


@dataclass(slots=True)
class Impact:
    """What was found; `basis` says whether all of it was looked at."""

    basis: str = "unknown"
    tiers: Counter[str] = field(default_factory=Counter)
    referencing: set[str] = field(default_factory=set)
    importing: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        """All references."""
        return self.tiers.total()

    @property
    def tests(self) -> list[str]:
        """The tests that speak of it."""
        return sorted(path for path in self.referencing | self.importing if is_test(path))[:_NAMED]

    @property
    def is_sure(self) -> bool:
        """Whether all was looked at, and most of what was found is certain."""
        sure = self.tiers["PROVEN"] + self.tiers["STRONG"]
        return self.basis == "ref_facts_resolved" and 2 * sure >= self.count


class Impacts:
    """Finds what changes reach, those that matter most first, as far as the time goes."""

    def __init__(self, world: World, store: FactStore, *, is_present: bool) -> None:
        """`is_present`: the later state is the one that the index knows."""
        self._world = world
        self._store = store
        self._is_present = is_present
        self.found: dict[int, Impact] = {}

    def settle(self, changes: Iterable[Change]) -> None:
        """Take back what was called broken where a class still has the member, from a file that did not change."""
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
            for one in facts.definitions if facts is not None else ():
                if one.path == above.path and one.kind == above.kind:
                    found, _ = resolver.member(Bound(old.path, one.scope, one.name), before.name)
                    if found is not None and found.file != old.path:
                        change.breaking, change.risk = False, "medium"
                        change.why = (f"still there, from {found.file}",)
                    break

    def look(self, changes: Iterable[Change], *, budget_sec: float = BUDGET_SEC) -> None:
        """Look for what these changes reach; what there is no time for stays unknown."""
        deadline = time.monotonic() + budget_sec
        wanted = [one for one in changes if one.change != "added" and not one.is_module and id(one) not in self.found]
        for change in sorted(wanted, key=_matters)[:_MOST]:
            if time.monotonic() > deadline:
                return
            impact = Impact()
            # Whatever goes wrong in here is no reason not to say what changed.
            with suppress(Exception):
                self._look_for(change, impact, min(deadline, time.monotonic() + _ONE_SEC))
            self.found[id(change)] = impact

    def of(self, change: Change) -> Impact | None:
        """What a change reaches, if it was looked for."""
        return self.found.get(id(change))

    def _look_for(self, change: Change, impact: Impact, deadline: float) -> None:
        bound = self._bound(change)
        before = change.pair.before
        gone = change.change in ("removed", "renamed") and before is not None
        name = before.name if gone and before is not None else change.pair.now.name
        whole = False
        if bound is None:
            self._mentioned(change, name, impact)
        else:
            taken: dict[str, bool] = {}

            def in_time(path: str) -> bool:
                return time.monotonic() < deadline

            looked = references(self._world, self._store, [bound], keep=in_time, receivers=False)
            for place, one in enumerate(looked):
                if place >= _MOST_REFERENCES or (place % _CHECKED == 0 and time.monotonic() > deadline):
                    break
                if one.role == "DEFINITION":
                    continue
                tier = one.tier
                if tier == "UNKNOWN" and gone and bound.scope == 0:
                    # Nothing binds the name any more; who imports it from there means it all the same.
                    if one.path not in taken:
                        taken[one.path] = self._takes(one.path, name, bound.file)
                    tier = "STRONG" if taken[one.path] else tier
                impact.tiers[tier] += 1
                impact.referencing.add(one.path)
                if one.role == "IMPORT":
                    impact.importing.add(one.path)
            else:
                whole = time.monotonic() < deadline
        impact.basis = "ref_facts_resolved" if whole and self._is_present else "ref_facts_partial"

    def _bound(self, change: Change) -> Bound | None:
        """Where the index knows what changed, or the place it was in."""
        gone = change.change in ("removed", "renamed")
        outline, entity = (change.pair.old, change.pair.before) if gone else (change.pair.new, change.pair.after)
        if outline is None or entity is None:
            return None
        facts = self._world.facts(outline.path)
        if facts is None:
            return None
        for one in facts.definitions:
            if one.path == entity.path and one.kind == entity.kind:
                return Bound(outline.path, one.scope, one.name)
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
        return any(one.imported == name and module in modules.find(one.source, path) for one in facts.imports)

    def _mentioned(self, change: Change, name: str, impact: Impact) -> None:
        """Where there is no file any more: those who import the name from a module that was called so."""
        stem = change.path.rpartition("/")[2].partition(".")[0]
        package = change.path.rpartition("/")[0].rpartition("/")[2]
        wanted = package if stem in ("__init__", "index", "mod") else stem
        for path, _ in self._store.files_with(name)[:_MOST_REFERENCES]:
            facts = self._world.facts(path)
            if facts is None or path == change.path:
                continue
            for one in facts.imports:
                parts = one.source.replace("\\", "/").replace("::", "/").replace(".", "/").split("/")
                if one.imported == name and wanted in parts[-2:]:
                    impact.tiers["UNKNOWN"] += 1
                    impact.importing.add(path)
                    impact.referencing.add(path)


def _member_of(facts: Facts, path: str, above: str, name: str) -> Bound | None:
    for index, one in enumerate(facts.definitions):
        if one.path == above and index in facts.body_of:
            return Bound(path, facts.body_of[index], name)
    return None


def _matters(change: Change) -> tuple[bool, int]:
    order = {"signature_changed": 0, "removed": 1, "renamed": 2, "body_changed": 3}
    return (not change.breaking, order.get(change.change, 4))


def tiers_of(impact: Impact) -> dict[str, int]:
    """The references by tier, all tiers named."""
    return {tier.lower(): impact.tiers[tier] for tier in TIERS}


def named(paths: Iterable[str]) -> tuple[str, ...]:
    """Some files, in their order."""
    return tuple(sorted(paths)[:_NAMED])
