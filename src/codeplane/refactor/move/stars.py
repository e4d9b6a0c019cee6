"""Packages that give everything away without saying what that is: also the modules of them that are loaded by then."""

from collections.abc import Iterator

from codeplane.refactor.move.afterwards import Afterwards
from codeplane.refactor.move.loading import Loading

_INIT = "/__init__.py"
_CHANGED = 300
_LOOKED_AT = 300


def shifted(later: Afterwards, before: Loading, after: Loading) -> tuple[str, str] | None:
    """A package that some module takes everything from, and a module of it that comes to be loaded at another time."""
    packages: dict[str, str] = {}
    for module in _moving(later, before, after):
        packages.setdefault(module.rpartition("/")[0] + _INIT, module)
    return next((one for one in packages.items() if _is_open(before, one[0]) and _is_taken(before, one[0])), None)


def _moving(later: Afterwards, before: Loading, after: Loading) -> Iterator[str]:
    """The modules that are moved, and those that a changed file loads now or then, and not both; as they are now."""
    for pair in later.came_from.items():
        yield from pair
    for path in later.changed[:_CHANGED]:
        old = later.was(path)
        was = {one.module for one in before.taken(old)} if old is not None else set()
        now = {later.was(one.module) for one in after.taken(path)}
        yield from sorted(one for one in now ^ was if one is not None)


def _is_open(before: Loading, package: str) -> bool:
    """Whether a package does not say what it gives away."""
    facts = before.world.facts(package)
    return facts is not None and not any(one.evidence == "all" for one in facts.exports)


def _is_taken(before: Loading, package: str) -> bool:
    """Whether a module takes everything from a package."""
    world, name = before.world, package[: -len(_INIT)].rpartition("/")[2]
    inside = [path for path in world.snapshot.files if path.startswith(package[: -len(_INIT) + 1])]
    for path in [*world.holding(name)[:_LOOKED_AT], *inside[:_LOOKED_AT]]:
        facts = world.facts(path)
        if facts is None or not facts.star or not world.language(facts).names.binds_stars:
            continue
        stars = (one for one in facts.imports if one.imported == "*")
        if any(package in world.python().find(one.source, path) for one in stars):
            return True
    return False
