"""Names of a Python package that a module in it has as well: what is loaded last holds them."""

from collections.abc import Iterator
from typing import Literal

from codeplane.code.entity import Module
from codeplane.code.resolve.names import gives_by_star
from codeplane.refactor.move.load_simulation import LoadSimulation
from codeplane.refactor.move.planned_world import PlannedWorld

_INIT = "/__init__.py"
_STARTS = 60
_PACKAGES = 40
Holder = Literal["name", "module", "name until the module is loaded"]


def changed_holder(later: PlannedWorld, before: LoadSimulation, after: LoadSimulation) -> tuple[str, str] | None:
    """Return a package and a name of it that would mean the other of two things."""
    for package in _packages(later, after):
        old = later.old_path(package)
        if old is None:
            continue
        was, now = holders(before, old), holders(after, package)
        for name in now:
            if name in was and was[name] != now[name]:
                return package, name
    return None


def holders(loading: LoadSimulation, package: str) -> dict[str, Holder]:
    """Return what holds each name that a package shares with a module in it, when the package is loaded."""
    ended: dict[str, int] | None = None
    found: dict[str, Holder] = {}
    for name, module, at in _shared_names(loading, package):
        ended = loading.loading_progress(package) if ended is None else ended
        if module not in ended:
            found[name] = "name until the module is loaded"
        else:
            found[name] = "module" if ended[module] > at else "name"
    return found


def _packages(later: PlannedWorld, after: LoadSimulation) -> list[str]:
    """Return the packages that the changed files load."""
    found: dict[str, None] = {}
    for start in later.changed[:_STARTS]:
        found |= dict.fromkeys(module for module in after.reaches(start) if module.endswith(_INIT))
    return sorted(found)[:_PACKAGES]


def _shared_names(loading: LoadSimulation, package: str) -> Iterator[tuple[str, str, int]]:
    """Yield names with the module of that name, and the last place where the package binds them otherwise."""
    world, resolver = loading.world, loading.resolver
    facts = world.facts(package)
    if facts is None:
        return
    python = world.python()
    starred = [import_ for import_ in facts.imports if import_.imported == "*"] if facts.star else []
    stars = [(import_.at, place) for import_ in starred for place in python.find(import_.source, package)]
    names = {name for scope, name in facts.rows_by_binding if scope == 0} | (
        _module_names(loading, package) if stars else set()
    )
    for name in sorted(names):
        module = python.submodule(package, name)
        if module is None:
            continue
        rows = facts.rows_by_binding.get((0, name), ())
        places = [facts.bind_at(row) for row in rows]
        places += [at for at, place in stars if _star_brings(loading, place, name)]
        if places and resolver.export(package, name) != (Module(module),):
            yield name, module, max(places)


def _star_brings(loading: LoadSimulation, place: str, name: str) -> bool:
    facts = loading.world.facts(place)
    return facts is not None and gives_by_star(facts, name) and bool(loading.resolver.export(place, name))


def _module_names(loading: LoadSimulation, package: str) -> set[str]:
    """Return the names of a package's modules."""
    folder = package[: -len(_INIT) + 1]
    below = (path[len(folder) :] for path in loading.world.snapshot.files if path.startswith(folder))
    return {tail.partition("/")[0].removesuffix(".py") for tail in below} - {"__init__"}
