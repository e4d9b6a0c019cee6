"""Places that contexts understand differently, which must not be changed by guessing."""

from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.code.entity import Bound, Module
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.contexts.router import Router
from codeplane.refactor.draft import Edit

_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """An edit, and the file that its place leads to in each context."""

    edit: Edit
    meanings: tuple[tuple[str, str], ...]


def find_conflicts(world: World, router: Router, edits: Iterable[Edit]) -> tuple[Conflict, ...]:
    """Return the imports among the edits that lead into several contexts at once."""
    resolver = Resolver(world)
    found: list[Conflict] = []
    for edit in edits:
        if edit.role != "IMPORT" or not edit.semantic or edit.start == edit.end or len(found) >= _MAX:
            continue
        facts = world.facts(edit.path)
        if facts is None or edit.start not in facts.imported_at:
            continue
        name = world.text(edit.path)[edit.start : edit.end].decode("utf-8", "replace")
        files = {
            entity.file if isinstance(entity, Bound) else entity.path
            for entity in resolver.at(edit.path, edit.start, name).entities
            if isinstance(entity, (Bound, Module))
        }
        homes = {router.home_of(file).id: file for file in sorted(files)}
        if len(homes) > 1:
            found.append(Conflict(edit=edit, meanings=tuple(sorted(homes.items()))))
    return tuple(found)
