"""Modules that load today and would not after a move: found by loading both worlds in mind."""

import time
from collections.abc import Iterator, Sequence

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.refactor.draft import Danger, Draft
from codeplane.refactor.move.afterwards import Afterwards
from codeplane.refactor.move.doubles import turned
from codeplane.refactor.move.loading import Fault, Loading
from codeplane.refactor.move.stars import shifted

_ENTRIES = 60
_LOOKED_AT = 300


def loading_dangers(
    world: World, store: FactStore, draft: Draft, moved: Sequence[str], *, deadline: float
) -> list[Danger]:
    """What a move breaks when modules are loaded: circles through the places that something came to, names that
    are no longer where they are taken from."""
    later = Afterwards(world, store, draft)
    before, after = Loading(world), Loading(later)
    said = {one.kind for one in draft.dangers}
    found: list[Danger] = []
    if "import_cycle" not in said:
        fault = next(_circles(later, before, after, moved, deadline), None)
        if fault is not None:
            what = f"{fault.path} takes {_shown(fault)} from {fault.module} before it is there"
            found.append(_danger("import_cycle", what, fault, later))
        elif (grown := _grown(later, before, after, moved)) is not None:
            what = (
                "modules come to load each other; functions that are called meanwhile may see one that is half loaded"
            )
            found.append(Danger(kind="load_order", what=what, path=later.was(grown)))
        elif (double := turned(later, before, after)) is not None:
            what = f"{double[1]} of {double[0]} is a module and something else; another of the two is loaded last"
            found.append(Danger(kind="load_order", what=what, path=later.was(double[0])))
        elif (star := shifted(later, before, after)) is not None:
            what = f"`import *` from {star[0]} brings what is loaded by then; {star[1]} comes at another time"
            found.append(Danger(kind="load_order", what=what, path=star[0]))
    if "unresolved_import" not in said:
        fault = next(_lost(later, before, after, deadline), None)
        if fault is not None:
            what = f"{fault.path} would not find {_shown(fault)} in {fault.module}"
            found.append(_danger("unresolved_import", what, fault, later))
    return found


def _circles(
    later: Afterwards, before: Loading, after: Loading, moved: Sequence[str], deadline: float
) -> Iterator[Fault]:
    """Names that are taken from modules which are not loaded that far, and were before."""
    for entry in _entries(after, moved):
        if time.monotonic() > deadline:
            return
        faults = after.faults(entry)
        old = later.was(entry) if faults else None
        known = {(one.path, one.module, one.name) for one in before.faults(old)} if old is not None else set()
        for fault in faults:
            if (later.was(fault.path), later.was(fault.module), fault.name) not in known:
                yield fault


def _grown(later: Afterwards, before: Loading, after: Loading, moved: Sequence[str]) -> str | None:
    """A module that comes to lie on a circle with others than before."""
    for start in moved[:_ENTRIES]:
        old = later.was(start)
        known = _circle(before, old) if old is not None else {old}
        now = _circle(after, start)
        if any(later.was(one) not in known for one in now if one != start):
            return start
        was = {one for step in before.taken(old) for one in step.through} if old is not None else set()
        if any(one in now and later.was(one) not in was for step in after.taken(start) for one in step.through):
            return start
    return None


def _entries(after: Loading, moved: Sequence[str]) -> list[str]:
    """These modules, and those that lie on a circle with one of them."""
    found: dict[str, None] = dict.fromkeys(moved)
    for start in moved[:_ENTRIES]:
        found |= dict.fromkeys(sorted(_circle(after, start)))
    return list(found)[:_ENTRIES]


def _circle(loading: Loading, start: str) -> set[str]:
    """The modules that a module loads and that load it."""
    reach = loading.reaches(start)
    back = {start}
    while more := {path for path, named in reach.items() if path not in back and named & back}:
        back |= more
    return back & reach.keys()


def _lost(later: Afterwards, before: Loading, after: Loading, deadline: float) -> Iterator[Fault]:
    """Names that changed files would take from modules that do not have them, or from modules that are not there."""
    for path in later.changed[:_LOOKED_AT]:
        if time.monotonic() > deadline:
            return
        facts, old = later.facts(path), later.was(path)
        if facts is None or not later.language(facts).names.dotted_modules:
            continue
        was = before.world.facts(old) if old is not None else None
        sources = {one.source for one in was.imports} if was is not None else set()
        for one in facts.imports:
            if was is not None and one.source not in sources and not later.python().find(one.source, path):
                yield Fault(path=path, at=one.at, module=one.source, name="")
        lacking = [
            one for one in after.taken(path) if one.name not in ("", "*") and not after.has(one.module, one.name)
        ]
        known = {one.name for one in before.taken(old) if not before.has(one.module, one.name)} if old else set()
        for step in lacking:
            if step.name not in known:
                yield Fault(path=path, at=step.at, module=step.module, name=step.name)


def _danger(kind: str, what: str, fault: Fault, later: Afterwards) -> Danger:
    old = later.was(fault.path)
    return Danger(kind=kind, what=what, path=old if old is not None else None)


def _shown(fault: Fault) -> str:
    return {"": "anything", "*": "everything"}.get(fault.name, fault.name)
