"""Whether a decorator calls the method it decorates with the object that the method was called on."""

import re

from codeplane.code.model import REASONS, Definition, Facts

_FIRST = re.compile(rb"\(\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_NAME = re.compile(rb"[\w\x80-\xff]+")
_PARAM = REASONS.index("PARAM")


def hands_another(facts: Facts, text: bytes, index: int) -> bool:
    """Whether a decorator calls what it was given with something else first than its own wrapper was called with."""
    definition = facts.definitions[index]
    first = _FIRST.search(text, definition.name_at, definition.end)
    if first is None:
        return False
    return any(
        _calls_with_another(facts, text, definition, name) for name in _decorated_names(text, definition, first[1])
    )


def _decorated_names(text: bytes, definition: Definition, first: bytes) -> set[bytes]:
    """The names that what is decorated may have: the decorator's first parameter, or that of the one it makes."""
    inner = re.compile(rb"\n[ \t]+(?:async[ \t]+)?def[ \t]+[\w\x80-\xff]+\(\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)\s*\)")
    return {first, *(match[1] for match in inner.finditer(text, definition.name_at, definition.end))}


def _calls_with_another(facts: Facts, text: bytes, definition: Definition, name: bytes) -> bool:
    call = re.compile(rb"(?<![\w.\x80-\xff])%s\s*\(\s*([^,()\s]*)\s*([,)(=]?)" % re.escape(name))
    for match in call.finditer(text, definition.name_at, definition.end):
        if facts.in_text(match.start()) or match.start() < text.find(b":", definition.name_at):
            continue
        parameter = facts.first_parameters.get(facts.scope_at(match.start()))
        first = _NAME.match(text, parameter) if parameter is not None else None
        taken = first[0] if first is not None else None
        if match[1] and not match[1].startswith(b"*") and match[2] != b"=" and match[1] != taken:
            return True
    return False
