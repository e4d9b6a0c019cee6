"""The meaning of dotted names in texts: `Client.send`, `httpx.Client.send`, also of a class that inherits it."""

from collections.abc import Iterable, Sequence
from typing import Literal

from codeplane.code.entity import Bound, Entity, Instance, Module, Outside
from codeplane.code.resolve.classes import CLASSES
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.path_kinds import is_copy, is_test

_MAX_CLASSES = 200
# Whether a dotted name means the symbol, something else that is defined here, either of them, or nothing known.
Reading = Literal["own", "other", "several", "unknown"]


class DottedNames:
    """Resolves dotted names that end in one name, and caches the results."""

    def __init__(self, world: World, store: FactStore, name: str) -> None:
        self._world, self._store = world, store
        self._name = name
        self._resolver = Resolver(world)
        self._known: dict[tuple[str, tuple[str, ...], str], set[Bound]] = {}

    def read(self, path: str, before: str, member: str, bounds: frozenset[Bound]) -> Reading:
        """Return what a dotted name in a file means, for a rename of the definitions `bounds`.

        `before` is the part in front of the name's dot, `member` the part behind the next dot.
        """
        parts = tuple(part for part in before.split(".") if part)
        if not bounds or not (parts or member):
            return "unknown"
        # A name means the same in all documents; a source file has names of its own.
        path = path if self._world.facts(path) is not None else ""
        key = (path, parts, member)
        found = self._known.get(key)
        if found is None:
            found = self._meanings(path, (*parts, self._name))
            if not parts:
                # A bare word is a class if it has the member that follows.
                found = {bound for bound in found if self._resolver.member(bound, member)[0] is not None}
            self._known[key] = found
        if not found:
            return "unknown"
        if found <= bounds:
            return "own"
        return "several" if found & bounds else "other"

    def _meanings(self, path: str, steps: tuple[str, ...]) -> set[Bound]:
        """Resolve the name as the file itself would, else as a path of modules, else by classes of that name."""
        own = self._follow(self._resolver.export(path, steps[0]), steps[1:]) if path else set()
        return own or self._in_modules(steps) or self._in_classes(steps)

    def _in_modules(self, steps: tuple[str, ...]) -> set[Bound]:
        for cut in range(len(steps) - 1, 0, -1):
            modules = map(Module, self._world.python().find(".".join(steps[:cut]), ""))
            if found := self._follow(modules, steps[cut:]):
                return found
        return set()

    def _in_classes(self, steps: tuple[str, ...]) -> set[Bound]:
        """Resolve by classes; those of tests and copies count only if there are no others."""
        found: dict[bool, set[Bound]] = {False: set(), True: set()}
        for symbol in self._store.find_symbols(steps[0], limit=_MAX_CLASSES):
            facts = self._world.facts(symbol.file)
            if facts is None or symbol.kind not in CLASSES or symbol.position >= len(facts.definitions):
                continue
            definition = facts.definitions[symbol.position]
            owner = Bound(symbol.file, definition.scope, definition.name)
            found[is_test(symbol.file) or is_copy(symbol.file)] |= self._follow([owner], steps[1:])
        return found[False] or found[True]

    def _follow(self, entities: Iterable[Entity], steps: Sequence[str]) -> set[Bound]:
        """Return what names lead to, from modules and classes."""
        for step in steps:
            entities = [found for entity in entities for found in self._step(entity, step)]
        return {entity for entity in entities if isinstance(entity, Bound)}

    def _step(self, entity: Entity, name: str) -> tuple[Entity, ...]:
        if isinstance(entity, Module):
            return self._resolver.export(entity.path, name)
        if isinstance(entity, Instance | Outside):
            return ()
        member, _ = self._resolver.member(entity, name)
        return (member,) if member is not None else ()
