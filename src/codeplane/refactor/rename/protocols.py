"""Classes that implement a protocol by having its methods, without naming it as a base."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from codeplane.code.entity import Bound
from codeplane.code.model import REASONS, Facts
from codeplane.refactor.rename.rename_context import RenameContext

_PARAMETER = REASONS.index("PARAM")


def structural_relative(context: RenameContext, family: Sequence[Bound], others: Sequence[Bound]) -> Bound | None:
    """Return a class that implements a protocol of the family, or a protocol that one of the family implements."""
    base = context.subject.language.classes.protocol_base
    if not base:
        return None
    is_protocol = re.compile(rb"\b" + base.encode() + rb"\b")

    @cache
    def methods(owner: Bound) -> Mapping[str, tuple[str, ...]]:
        facts = context.world.facts(owner.file)
        return _methods(facts, owner) if facts is not None else {}

    @cache
    def protocol(owner: Bound) -> bool:
        text = context.world.text(owner.file)
        definitions = [definition for _, definition in context.resolver.definitions(owner)]
        return any(found.bases is not None and is_protocol.search(text, *found.bases) for found in definitions)

    protocols = [own for own in family if protocol(own)]
    for other in others:
        if protocol(other):
            if any(_implements(methods(own), methods(other), context.name) for own in family if own not in protocols):
                return other
        elif any(_implements(methods(other), methods(own), context.name) for own in protocols):
            return other
    return None


def _implements(methods: Mapping[str, tuple[str, ...]], protocol: Mapping[str, tuple[str, ...]], name: str) -> bool:
    """Whether a class has all methods of a protocol, the renamed one with the same parameters."""
    return protocol.keys() <= methods.keys() and name in protocol and methods[name] == protocol[name]


def _methods(facts: Facts, owner: Bound) -> dict[str, tuple[str, ...]]:
    """Return the methods of a class without special ones, each with the names of its parameters."""
    scopes = {
        number
        for number, scope in enumerate(facts.scopes)
        if scope.definition >= 0
        and facts.definitions[scope.definition].name == owner.name
        and facts.definitions[scope.definition].scope == owner.scope
    }
    own_scope = {scope.definition: number for number, scope in enumerate(facts.scopes) if scope.definition >= 0}
    return {
        definition.name: _parameters(facts, own_scope[index])
        for index, definition in enumerate(facts.definitions)
        if definition.scope in scopes and index in own_scope and not definition.name.startswith("__")
    }


def _parameters(facts: Facts, scope: int) -> tuple[str, ...]:
    bound = [
        (at, name)
        for name, (of, at, reason, _) in zip(facts.bind_names, facts.binds.tolist(), strict=True)
        if of == scope and reason == _PARAMETER
    ]
    return tuple(name for _, name in sorted(bound))
