"""Places that mean one thing in one context and another in the next: what nobody may change by guessing."""

from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.code.resolve.entity import Bound, Module
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World
from codeplane.index.contexts.router import Router
from codeplane.refactor.draft import Edit

_MAX = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """An edit's place, and what each context takes it for (the file it leads to)."""

    edit: Edit
    meanings: tuple[tuple[str, str], ...]


def conflicts(world: World, router: Router, edits: Iterable[Edit]) -> tuple[Conflict, ...]:
    """The imports among the edits that lead into several contexts at once."""
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
            one.file if isinstance(one, Bound) else one.path
            for one in resolver.at(edit.path, edit.start, name).entities
            if isinstance(one, (Bound, Module))
        }
        homes = {router.home_of(file).id: file for file in sorted(files)}
        if len(homes) > 1:
            found.append(Conflict(edit=edit, meanings=tuple(sorted(homes.items()))))
    return tuple(found)
