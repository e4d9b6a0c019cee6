"""What the names of a file are, by the bindings that they refer to."""

import re
from collections.abc import Iterator

from codeplane.code.entity import Bound
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import REASONS, Facts
from codeplane.code.resolve.resolver import Resolver

MAX_TOKENS = 50_000
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_PARAM, _IMPORT = REASONS.index("PARAM"), REASONS.index("IMPORT_ALIAS")
_KINDS = {
    "accessor": "property",
    "alias": "type",
    "class": "class",
    "constant": "variable",
    "constructor": "method",
    "enum": "enum",
    "enum_member": "enumMember",
    "field": "property",
    "function": "function",
    "interface": "interface",
    "macro": "macro",
    "method": "method",
    "module": "namespace",
    "namespace": "namespace",
    "property": "property",
    "protocol": "interface",
    "prototype": "function",
    "record": "struct",
    "struct": "struct",
    "trait": "interface",
    "type": "type",
    "union": "struct",
    "variable": "variable",
}
KINDS: tuple[str, ...] = (*sorted(set(_KINDS.values())), "parameter")


def name_kinds(resolver: Resolver, path: str, facts: Facts, text: bytes) -> Iterator[tuple[int, int, str, bool]]:
    """Yield the start, end and kind of each name that facts know, and whether it is declared there."""
    reserved = LANGUAGES[facts.language].reserved
    keywords = reserved.hard if reserved is not None else frozenset()
    defined = {definition.name_at: definition for definition in facts.definitions}
    bound_at = {facts.bind_at(row) for row in range(len(facts.bind_names))}
    kinds: dict[Bound, str] = {}
    for match in _NAME.finditer(text):
        start = match.start()
        name = match[0].decode("utf-8", "replace")
        definition = defined.get(start)
        if definition is not None:
            yield start, match.end(), _KINDS.get(definition.kind, "variable"), True
            continue
        if name in keywords or facts.in_text(start) or facts.is_label(start):
            continue
        if text[start - 1 : start] == b"." and start not in facts.imported_at:
            continue
        own = resolver.lexical(path, facts, start, name)
        if own is None:
            continue
        kind = kinds.get(own)
        if kind is None:
            kind = kinds[own] = _kind_of(resolver, facts, own)
        yield start, match.end(), kind, start in bound_at


def _kind_of(resolver: Resolver, facts: Facts, own: Bound) -> str:
    for index in facts.definitions_in(own.scope, own.name):
        return _KINDS.get(facts.definitions[index].kind, "variable")
    rows = facts.rows(own.scope, own.name)
    if any(facts.bind_reason(row) == _PARAM for row in rows):
        return "parameter"
    if any(facts.bind_reason(row) == _IMPORT for row in rows):
        for entity in resolver.meaning(own):
            if not isinstance(entity, Bound):
                return "namespace"
            for _, definition in resolver.definitions(entity):
                return _KINDS.get(definition.kind, "variable")
        return "namespace"
    return "variable"
