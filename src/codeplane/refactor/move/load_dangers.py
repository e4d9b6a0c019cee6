"""Dangers of a move when modules are loaded: import cycles, missing names, and a changed load order."""

import time
from collections.abc import Iterator, Sequence

from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.refactor.draft import Danger, Draft
from codeplane.refactor.move.dependencies import SymbolDependencies
from codeplane.refactor.move.load_simulation import LoadFault, LoadSimulation
from codeplane.refactor.move.module_names import modules_of
from codeplane.refactor.move.name_holders import changed_holder
from codeplane.refactor.move.planned_world import PlannedWorld


def shifted_star_import(later: PlannedWorld, before: LoadSimulation, after: LoadSimulation) -> tuple[str, str] | None:
    """Return a package that is imported with `*`, and a module of it that is loaded at another time."""
    packages: dict[str, str] = {}
    for module in _shifted_modules(later, before, after):
        packages.setdefault(module.rpartition("/")[0] + _INIT, module)
    return next(
        (
            package
            for package in packages.items()
            if _lacks_all(before, package[0]) and _is_star_imported(before, package[0])
        ),
        None,
    )


_INIT = "/__init__.py"
_ENTRIES = 60
_CHANGED = 300
_MAX_REACHED = 400
_LOOKED_AT = 300


def loading_dangers(
    world: World, store: FactStore, draft: Draft, moved: Sequence[str], *, deadline: float
) -> list[Danger]:
    """Return what a move breaks when modules are loaded: new import cycles, and names that are no longer found.

    Both the present and the planned state are simulated.
    """
    later = PlannedWorld(world, store, draft)
    before, after = LoadSimulation(world), LoadSimulation(later)
    known_kinds = {danger.kind for danger in draft.dangers}
    found: list[Danger] = []
    if "import_cycle" not in known_kinds:
        fault = next(_new_faults(later, before, after, moved, deadline), None)
        if fault is not None:
            what = f"{fault.path} takes {_name_text(fault)} from {fault.module} before it is there"
            found.append(_danger("import_cycle", what, fault, later))
        elif (grown := _grown_cycle(later, before, after, moved)) is not None:
            what = (
                "modules come to load each other; functions that are called meanwhile may see one that is half loaded"
            )
            found.append(Danger(kind="load_order", what=what, path=later.old_path(grown)))
        elif (double := changed_holder(later, before, after)) is not None:
            what = f"{double[1]} of {double[0]} is a module and something else; another of the two is loaded last"
            found.append(Danger(kind="load_order", what=what, path=later.old_path(double[0])))
        elif (star := shifted_star_import(later, before, after)) is not None:
            what = f"`import *` from {star[0]} brings what is loaded by then; {star[1]} comes at another time"
            found.append(Danger(kind="load_order", what=what, path=star[0]))
    if "unresolved_import" not in known_kinds:
        fault = next(_lost_names(later, before, after, deadline), None)
        if fault is not None:
            what = f"{fault.path} would not find {_name_text(fault)} in {fault.module}"
            found.append(_danger("unresolved_import", what, fault, later))
    return found


def _new_faults(
    later: PlannedWorld, before: LoadSimulation, after: LoadSimulation, moved: Sequence[str], deadline: float
) -> Iterator[LoadFault]:
    """Yield names that are read from a module before it defines them, and were not before the move."""
    for entry in _entries(after, moved):
        if time.monotonic() > deadline:
            return
        faults = after.faults(entry)
        old = later.old_path(entry) if faults else None
        known = {(fault.path, fault.module, fault.name) for fault in before.faults(old)} if old is not None else set()
        for fault in faults:
            if (later.old_path(fault.path), later.old_path(fault.module), fault.name) not in known:
                yield fault


def _grown_cycle(
    later: PlannedWorld, before: LoadSimulation, after: LoadSimulation, moved: Sequence[str]
) -> str | None:
    """Return a module that gets into a cycle with other modules than before."""
    for start in moved[:_ENTRIES]:
        old = later.old_path(start)
        known = _cycle(before, old) if old is not None else {old}
        now = _cycle(after, start)
        if any(later.old_path(module) not in known for module in now if module != start):
            return start
        was = {module for step in before.reads(old) for module in step.through} if old is not None else set()
        if any(
            module in now and later.old_path(module) not in was
            for step in after.reads(start)
            for module in step.through
        ):
            return start
    return None


def _entries(after: LoadSimulation, moved: Sequence[str]) -> list[str]:
    """Return these modules, and those in a cycle with one of them."""
    found: dict[str, None] = dict.fromkeys(moved)
    for start in moved[:_ENTRIES]:
        found |= dict.fromkeys(sorted(_cycle(after, start)))
    return list(found)[:_ENTRIES]


def _cycle(loading: LoadSimulation, start: str) -> set[str]:
    """Return the modules that a module loads and that load it."""
    reach = loading.reaches(start)
    back = {start}
    while more := {path for path, named in reach.items() if path not in back and named & back}:
        back |= more
    return back & reach.keys()


def _lost_names(
    later: PlannedWorld, before: LoadSimulation, after: LoadSimulation, deadline: float
) -> Iterator[LoadFault]:
    """Yield names that changed files would import from modules that do not have them, or do not exist."""
    for path in later.changed[:_LOOKED_AT]:
        if time.monotonic() > deadline:
            return
        facts, old = later.facts(path), later.old_path(path)
        if facts is None or not later.language(facts).names.dotted_modules:
            continue
        was = before.world.facts(old) if old is not None else None
        sources = {import_.source for import_ in was.imports} if was is not None else set()
        for import_ in facts.imports if was is not None else ():
            if import_.source in sources or later.python().find(import_.source, path):
                continue
            if not _is_foreign(import_.source, path, later, before.world):
                yield LoadFault(path=path, at=import_.at, module=import_.source, name="")
        lacking = [
            step for step in after.reads(path) if step.name not in ("", "*") and not after.has(step.module, step.name)
        ]
        known = {step.name for step in before.reads(old) if not before.has(step.module, step.name)} if old else set()
        for step in lacking:
            if step.name not in known:
                yield LoadFault(path=path, at=step.at, module=step.module, name=step.name)


def _is_foreign(source: str, path: str, *worlds: World) -> bool:
    """Whether an import is of a package that is not in the repository, such as one of the standard library."""
    first = source.partition(".")[0]
    return bool(first) and not any(world.python().find(first, path) for world in worlds)


def _danger(kind: str, what: str, fault: LoadFault, later: PlannedWorld) -> Danger:
    old = later.old_path(fault.path)
    return Danger(kind=kind, what=what, path=old if old is not None else None)


def _name_text(fault: LoadFault) -> str:
    return {"": "anything", "*": "everything"}.get(fault.name, fault.name)


def cycle_dangers(world: World, old: str, new: str, needs: SymbolDependencies, *, stays: bool) -> list[Danger]:
    """Return a danger for each import that would close a cycle."""
    taken: dict[str, int] = {old: 0} if needs.from_old else {}
    for import_ in needs.brought:
        for module in modules_of(world, import_.source, old):
            if module != new:
                taken.setdefault(module, import_.at)
    found = []
    for module, at in taken.items():
        if (module == old and stays) or _reaches(world, module, new):
            what = f"{new} imports {module}, which leads back to it"
            found.append(Danger(kind="import_cycle", what=what, path=old, offset=at))
    if stays and not found and _reaches(world, new, old):
        what = f"{old} imports {new}, which leads back to it"
        found.append(Danger(kind="import_cycle", what=what, path=old))
    return found


def _shifted_modules(later: PlannedWorld, before: LoadSimulation, after: LoadSimulation) -> Iterator[str]:
    """Yield the moved modules, and those that a changed file loads either before or after, by their present paths."""
    for pair in later.came_from.items():
        yield from pair
    for path in later.changed[:_CHANGED]:
        old = later.old_path(path)
        was = {step.module for step in before.reads(old)} if old is not None else set()
        now = {later.old_path(step.module) for step in after.reads(path)}
        yield from sorted(module for module in now ^ was if module is not None)


def _lacks_all(before: LoadSimulation, package: str) -> bool:
    """Whether a package has no `__all__`."""
    facts = before.world.facts(package)
    return facts is not None and not any(export.evidence == "all" for export in facts.exports)


def _is_star_imported(before: LoadSimulation, package: str) -> bool:
    """Whether a module imports everything from a package."""
    world, name = before.world, package[: -len(_INIT)].rpartition("/")[2]
    inside = [path for path in world.snapshot.files if path.startswith(package[: -len(_INIT) + 1])]
    for path in [*world.files_with(name)[:_LOOKED_AT], *inside[:_LOOKED_AT]]:
        facts = world.facts(path)
        if facts is None or not facts.star or not world.language(facts).names.binds_stars:
            continue
        stars = (import_ for import_ in facts.imports if import_.imported == "*")
        if any(package in world.python().find(star.source, path) for star in stars):
            return True
    return False


def _reaches(world: World, start: str, goal: str) -> bool:
    """Whether loading one module loads another, by imports that are not in functions or only for types."""
    waiting, seen = [start], {start}
    while waiting and len(seen) < _MAX_REACHED:
        path = waiting.pop()
        facts = world.facts(path)
        if facts is None or path not in world.snapshot.files:
            continue
        text = world.text(path)
        for import_ in facts.imports:
            if import_.scope or text[import_.at - 1 : import_.at] in (b" ", b"\t"):
                continue
            for module in modules_of(world, import_.source, path):
                below = world.python().submodule(module, import_.imported) if import_.imported else None
                if goal in (module, below):
                    return True
                for each in (module, below):
                    if each is not None and each not in seen:
                        seen.add(each)
                        waiting.append(each)
    return False
