"""The types of values, and what builds on a class or overrides a method."""

from collections.abc import Iterator

from codeplane.code.entity import Bound, Entity, Instance
from codeplane.code.languages.registry import LANGUAGES
from codeplane.query.navigation.records import SymbolPlace
from codeplane.query.navigation.symbol_lookup import MAX_PLACES, NameAt, SymbolLookup

_MAX_CHECKED = 2_000
_CLASSES = frozenset({"class", "enum", "interface", "object", "protocol", "struct", "trait"})
Listed = tuple[list[SymbolPlace], str | None]


def types(lookup: SymbolLookup, path: str, name: NameAt, *, detail: bool) -> Listed:
    """Return the classes that the value of a name is an instance of, where that is known."""
    found: list[SymbolPlace] = []
    for entity in name.meaning.entities:
        value = lookup.resolver.value(entity)
        if isinstance(value, Instance) or (isinstance(value, Bound) and value != entity):
            found += lookup.entity_places(value, "STRONG" if name.meaning.certain else "ANCHORED", detail=detail)
        elif isinstance(entity, Bound) and value == entity:
            found += lookup.entity_places(entity, name.tier, detail=detail)
    return found[:MAX_PLACES], None


def implementations(lookup: SymbolLookup, path: str, name: NameAt, *, detail: bool) -> Listed:
    """Return the classes that build on a class, or the members that override a member."""
    found: list[SymbolPlace] = []
    cut: str | None = None
    for bound in name.bounds:
        related, checked = _related(lookup, bound)
        for entity in related:
            found += lookup.entity_places(entity, "STRONG", detail=detail)
        cut = cut or checked
    if len(found) > MAX_PLACES:
        cut = f"only the first {MAX_PLACES} of {len(found)} are listed"
    return found[:MAX_PLACES], cut


def _related(lookup: SymbolLookup, bound: Bound) -> tuple[list[Entity], str | None]:
    facts = lookup.world.facts(bound.file)
    if facts is None:
        return [], None
    owner_index = facts.scopes[bound.scope].definition
    defined = [definition for _, definition in lookup.resolver.definitions(bound)]
    is_class = any(definition.kind in _CLASSES or definition.bases is not None for definition in defined)
    if not is_class and owner_index < 0:
        return [], None
    owner = facts.definitions[owner_index] if owner_index >= 0 else None
    of = bound if is_class or owner is None else Bound(bound.file, owner.scope, owner.name)
    classes, cut = _subclasses(lookup, of)
    if is_class:
        return list(classes), cut
    members: list[Entity] = []
    for heir in classes:
        members += [member for member in _own_members(lookup, heir, bound.name) if member not in members]
    return members, cut


def _own_members(lookup: SymbolLookup, owner: Bound, name: str) -> Iterator[Bound]:
    facts = lookup.world.facts(owner.file)
    if facts is None:
        return
    for index, _ in lookup.resolver.definitions(owner):
        body = facts.body_of.get(index, -1)
        if body >= 0 and facts.definitions_in(body, name):
            yield Bound(owner.file, body, name)


def _subclasses(lookup: SymbolLookup, of: Bound) -> tuple[list[Bound], str | None]:
    """Return the classes that have a class among their bases, directly or through others."""
    base_facts = lookup.world.facts(of.file)
    group = LANGUAGES[base_facts.language].group if base_facts is not None else ""
    found: list[Bound] = []
    seen, waiting, checked = {of}, [of], 0
    while waiting:
        parent = waiting.pop()
        wanted = parent.name.encode()
        for path in lookup.world.files_with(parent.name):
            facts = lookup.world.facts(path)
            if facts is None or LANGUAGES[facts.language].group != group:
                continue
            text = lookup.world.text(path)
            for definition in facts.definitions:
                if definition.bases is None or text.find(wanted, *definition.bases) < 0:
                    continue
                checked += 1
                if checked > _MAX_CHECKED:
                    return found, f"only the first {_MAX_CHECKED} classes that name {of.name} were looked at"
                heir = Bound(path, definition.scope, definition.name)
                if heir not in seen and of in lookup.resolver.line_of(heir)[0]:
                    seen.add(heir)
                    waiting.append(heir)
                    found.append(heir)
    return found, None
