"""What a dotted name in a text means: `Client.send`, `httpx.Client.send`, also of a class that inherits it."""

from collections.abc import Iterable, Sequence
from typing import Literal

from codeplane.code.resolve.classes import CLASSES
from codeplane.code.resolve.entity import Bound, Entity, Instance, Module, Outside
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.fact_store import FactStore
from codeplane.index.path_kinds import is_copy, is_test

_MAX_CLASSES = 200
# Whether a dotted name means the symbol, something else that is defined here, either of them, or nothing that is known.
Reading = Literal["own", "other", "several", "unknown"]


class Mentions:
    """Resolves dotted names that end in one name; what was found is kept for its length."""

    def __init__(self, world: World, store: FactStore, name: str) -> None:
        self._world, self._store = world, store
        self._name = name
        self._resolver = Resolver(world)
        self._known: dict[tuple[str, tuple[str, ...], str], set[Bound]] = {}

    def read(self, path: str, before: str, member: str, bounds: frozenset[Bound]) -> Reading:
        """What a mention in a file means where some definitions are renamed.

        `before` is what stands in front of its dot, `member` behind the next.
        """
        parts = tuple(part for part in before.split(".") if part)
        if not bounds or not (parts or member):
            return "unknown"
        # All documents understand a name alike; a source file has names of its own.
        path = path if self._world.facts(path) is not None else ""
        key = (path, parts, member)
        found = self._known.get(key)
        if found is None:
            found = self._meanings(path, (*parts, self._name))
            if not parts:
                # A word alone is a class where it has the member that is named behind it.
                found = {one for one in found if self._resolver.member(one, member)[0] is not None}
            self._known[key] = found
        if not found:
            return "unknown"
        if found <= bounds:
            return "own"
        return "several" if found & bounds else "other"

    def _meanings(self, path: str, steps: tuple[str, ...]) -> set[Bound]:
        """As the file itself would understand it, else as a path of modules, else by classes of that name."""
        own = self._walked(self._resolver.export(path, steps[0]), steps[1:]) if path else set()
        return own or self._in_modules(steps) or self._in_classes(steps)

    def _in_modules(self, steps: tuple[str, ...]) -> set[Bound]:
        for cut in range(len(steps) - 1, 0, -1):
            modules = map(Module, self._world.python().find(".".join(steps[:cut]), ""))
            if found := self._walked(modules, steps[cut:]):
                return found
        return set()

    def _in_classes(self, steps: tuple[str, ...]) -> set[Bound]:
        """Those of tests and copies count only where there are no others."""
        found: dict[bool, set[Bound]] = {False: set(), True: set()}
        for one in self._store.named(steps[0], limit=_MAX_CLASSES):
            facts = self._world.facts(one.file)
            if facts is None or one.kind not in CLASSES or one.position >= len(facts.definitions):
                continue
            definition = facts.definitions[one.position]
            owner = Bound(one.file, definition.scope, definition.name)
            found[is_test(one.file) or is_copy(one.file)] |= self._walked([owner], steps[1:])
        return found[False] or found[True]

    def _walked(self, entities: Iterable[Entity], steps: Sequence[str]) -> set[Bound]:
        """What is reached from modules and classes by names."""
        for step in steps:
            entities = [found for one in entities for found in self._step(one, step)]
        return {one for one in entities if isinstance(one, Bound)}

    def _step(self, one: Entity, name: str) -> tuple[Entity, ...]:
        if isinstance(one, Module):
            return self._resolver.export(one.path, name)
        if isinstance(one, Instance | Outside):
            return ()
        member, _ = self._resolver.member(one, name)
        return (member,) if member is not None else ()
