"""Places at which a name cannot be a type's: behind a value, where a language reaches types from their owners alone."""

import re
from collections.abc import Sequence

from codeplane.code.entity import Bound
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts
from codeplane.code.resolve.resolver import Resolver
from codeplane.code.resolve.world import World

_NEAR = 200
_TYPES = frozenset(
    {"class", "struct", "union", "enum", "interface", "record", "delegate", "trait", "object", "annotation", "type"}
)
_OWNERS = _TYPES | {"namespace", "module", "package"}
_DOT = rb"\s*(?:[?!]{0,2}\.|->)\s*"
_BEHIND_DOT = re.compile(rb"(?:([A-Za-z_]\w*)(?:%s\w+)*|[)\]\"])%s\Z" % (_DOT, _DOT))
_THIS = frozenset({"this", "base", "super"})


def are_types(world: World, resolver: Resolver, bounds: Sequence[Bound]) -> bool:
    """Whether all of these are types or constructors, which have the names of their types."""
    for bound in bounds:
        facts = world.facts(bound.file)
        defined = [definition for _, definition in resolver.definitions(bound)]
        if facts is None or not defined:
            return False
        if not all(definition.kind in _TYPES or _is_constructor(facts, definition) for definition in defined):
            return False
    return True


def is_read_from_value(
    world: World, resolver: Resolver, path: str, facts: Facts, offset: int, types: Sequence[Bound]
) -> bool:
    """Whether the name at a place is read from a value, so that it is none of these types."""
    rule = LANGUAGES[facts.language].names.types_behind
    text = world.text(path)
    before = _BEHIND_DOT.search(text, max(0, offset - _NEAR), offset) if rule != "values" else None
    if before is None:
        return False
    if rule == "signs":
        # `value.Base::name` names the class whose member is meant.
        return text[offset + len(types[0].name.encode()) :][:8].lstrip()[:2] != b"::"
    if before[1] is None:
        return True
    # What is read from a value is a value.
    word = before[1].decode()
    if text[max(0, before.start(1) - _NEAR) : before.start(1)].rstrip().endswith((b".", b"->")) or word in _THIS:
        return True
    if any(word in _owners(world, bound) for bound in types):
        return False
    found = resolver.at(path, before.start(1), word)
    bounds = [entity for entity in found.entities if isinstance(entity, Bound)]
    if not bounds or len(bounds) < len(found.entities):
        return False
    return all(definition.kind not in _OWNERS for bound in bounds for _, definition in resolver.definitions(bound))


def _is_constructor(facts: Facts, definition: Definition) -> bool:
    of = facts.scopes[definition.scope].definition
    return of >= 0 and facts.definitions[of].name == definition.name and definition.kind not in ("field", "property")


def _owners(world: World, bound: Bound) -> set[str]:
    """Return the last words of the namespaces and types around a type."""
    facts = world.facts(bound.file)
    found: set[str] = set()
    scope = bound.scope
    while facts is not None and scope > 0:
        of = facts.scopes[scope].definition
        if of >= 0:
            found.add(re.split(r"\W+", facts.definitions[of].name)[-1])
        scope = facts.scopes[scope].parent
    return found
