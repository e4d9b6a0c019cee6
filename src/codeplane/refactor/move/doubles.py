"""Names of a Python package that a module of it has as well: what is loaded last has them."""

from collections.abc import Iterator
from typing import Literal

from codeplane.code.resolve.entity import Module
from codeplane.code.resolve.names import gives_by_star
from codeplane.refactor.move.afterwards import Afterwards
from codeplane.refactor.move.loading import Loading

_INIT = "/__init__.py"
_STARTS = 60
_PACKAGES = 40
Holder = Literal["name", "module", "name until the module is loaded"]


def turned(later: Afterwards, before: Loading, after: Loading) -> tuple[str, str] | None:
    """A package and a name of it that becomes the other of two things."""
    for package in _packages(later, after):
        old = later.was(package)
        if old is None:
            continue
        was, now = holders(before, old), holders(after, package)
        for name in now:
            if name in was and was[name] != now[name]:
                return package, name
    return None


def holders(loading: Loading, package: str) -> dict[str, Holder]:
    """What has each name that a package and a module of it share, once the package is loaded."""
    ended: dict[str, int] | None = None
    found: dict[str, Holder] = {}
    for name, module, at in _shared(loading, package):
        ended = loading.ended(package) if ended is None else ended
        if module not in ended:
            found[name] = "name until the module is loaded"
        else:
            found[name] = "module" if ended[module] > at else "name"
    return found


def _packages(later: Afterwards, after: Loading) -> list[str]:
    """The packages that are loaded with what changes."""
    found: dict[str, None] = {}
    for start in later.changed[:_STARTS]:
        found |= dict.fromkeys(one for one in after.reaches(start) if one.endswith(_INIT))
    return sorted(found)[:_PACKAGES]


def _shared(loading: Loading, package: str) -> Iterator[tuple[str, str, int]]:
    """Names with the module of that name, and the last place where the package binds them to something else."""
    world, resolver = loading.world, loading.resolver
    facts = world.facts(package)
    if facts is None:
        return
    python = world.python()
    starred = [one for one in facts.imports if one.imported == "*"] if facts.star else []
    stars = [(one.at, place) for one in starred for place in python.find(one.source, package)]
    names = {name for scope, name in facts.bound if scope == 0} | (_modules(loading, package) if stars else set())
    for name in sorted(names):
        module = python.submodule(package, name)
        if module is None:
            continue
        rows = facts.bound.get((0, name), ())
        places = [facts.bind_at(row) for row in rows]
        places += [at for at, place in stars if _brings(loading, place, name)]
        if places and resolver.export(package, name) != (Module(module),):
            yield name, module, max(places)


def _brings(loading: Loading, place: str, name: str) -> bool:
    facts = loading.world.facts(place)
    return facts is not None and gives_by_star(facts, name) and bool(loading.resolver.export(place, name))


def _modules(loading: Loading, package: str) -> set[str]:
    """What a package's modules are called."""
    folder = package[: -len(_INIT) + 1]
    below = (one[len(folder) :] for one in loading.world.snapshot.files if one.startswith(folder))
    return {one.partition("/")[0].removesuffix(".py") for one in below} - {"__init__"}
