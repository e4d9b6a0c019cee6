"""Macros by the order of the text: one that stands above `mod name;` is known in that module, too."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from codeplane.code.entity import Bound
from codeplane.code.languages.rust.uses import Contents, Mod

_MAX_DEPTH = 16


class Modules(Protocol):
    """What the scope of macros asks about modules."""

    def parents(self, module: Mod) -> Iterable[Mod]:
        """Return the modules that declare a module."""

    def contents(self, module: Mod) -> Contents | None:
        """Return what a module defines and imports."""

    def declared_modules(self, path: str, at: int, name: str) -> Iterable[Mod]:
        """Yield the modules that `mod name;` or `mod name { … }` at a place may stand for."""

    def bound_at(self, path: str, at: int, name: str) -> Bound | None:
        """Return the binding of the definition whose name is at a place."""


def macros_above(modules: Modules, module: Mod, name: str) -> tuple[Bound, ...]:
    """Return the macros of a name that stand above the declaration of a module, or of one around it."""
    level = [module]
    for _ in range(_MAX_DEPTH):
        found: list[Bound] = []
        above = [(parent, inner) for inner in level for parent in modules.parents(inner)]
        for parent, inner in above:
            for start in _declared_at(modules, parent, inner):
                found += _macros_before(modules, parent, start, name, _MAX_DEPTH)
        if found or not above:
            return tuple(dict.fromkeys(found))
        level = list(dict.fromkeys(parent for parent, _ in above))
    return ()


def _declared_at(modules: Modules, parent: Mod, inner: Mod) -> Iterator[int]:
    contents = modules.contents(parent)
    for name, items in contents.items.items() if contents is not None else ():
        for item in items:
            if item.kind == "mod_item" and inner in modules.declared_modules(parent.path, item.at, name):
                yield item.at


def _macros_before(modules: Modules, module: Mod, end: int, name: str, depth: int) -> Iterator[Bound]:
    """Yield the macros of a name above a place of a module, those of modules under `#[macro_use]` included."""
    contents = modules.contents(module)
    for other, items in contents.items.items() if contents is not None and depth else ():
        for item in items:
            if item.at >= end:
                continue
            if other == name and "macro" in item.spaces and (bound := modules.bound_at(module.path, item.at, name)):
                yield bound
            elif item.kind == "mod_item" and item.gives_macros:
                for inner in modules.declared_modules(module.path, item.at, other):
                    yield from _macros_before(modules, inner, 1 << 62, name, depth - 1)
