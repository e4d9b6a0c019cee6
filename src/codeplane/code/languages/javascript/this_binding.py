"""Which class `this` belongs to at a place, and whether a member is static."""

import re

from codeplane.code.entity import Side
from codeplane.code.languages.registry import LANGUAGES
from codeplane.code.model import Definition, Facts, Scope

_STATIC = re.compile(rb"\bstatic\b")
_BLOCK = re.compile(rb"static\s*\{")
_FUNCTION = re.compile(rb"(?:(?:export|default|async)\s+)*function\b")


def class_of_this(facts: Facts, text: bytes, offset: int) -> int:
    """The scope of the class that `this` is of at a place, or -1 where a function around has a `this` of its own."""
    at = facts.scope_at(offset)
    while at > 0:
        scope = facts.scopes[at]
        around = facts.scopes[scope.parent] if scope.parent >= 0 else None
        if scope.kind == "class":
            return at
        if scope.kind == "function" and around is not None and around.kind != "class":
            if _has_own_this(facts, text, scope):
                return -1
        elif scope.kind == "object":
            return -1
        at = scope.parent
    return -1


def is_static(text: bytes, definition: Definition) -> bool:
    """Whether a member is the class's own, not that of its instances."""
    return _STATIC.search(text, max(definition.start, definition.name_at - 80), definition.name_at) is not None


def side_of(facts: Facts, text: bytes, definition: Definition) -> Side:
    """Whose member a definition in a class of JavaScript is: its instances may have another of the same name."""
    around = facts.scopes[definition.scope].kind
    if not LANGUAGES[facts.language].classes.static_members or around not in ("class", "interface"):
        return ""
    if around == "interface":
        return "instance"
    assigned = text[max(0, definition.name_at - 5) : definition.name_at] == b"this."
    static = in_static(facts, text, definition.name_at, definition.scope) if assigned else is_static(text, definition)
    return "static" if static else "instance"


def in_static(facts: Facts, text: bytes, offset: int, of: int) -> bool:
    """Whether the `this` at a place in a class, given by its scope, is the class itself."""
    at, below = facts.scope_at(offset), -1
    while at > of:
        at, below = facts.scopes[at].parent, at
    scope = facts.scopes[below] if below >= 0 else None
    if scope is not None and _BLOCK.match(text, scope.start):
        return True
    if scope is not None and scope.definition >= 0:
        return is_static(text, facts.definitions[scope.definition])
    # The value of a field, or a function in it.
    around = (
        definition
        for definition in facts.definitions
        if definition.scope == of and definition.start <= offset < definition.end
    )
    return any(is_static(text, definition) for definition in around)


def _has_own_this(facts: Facts, text: bytes, scope: Scope) -> bool:
    """Whether a function has its own `this`: all but arrows do."""
    if _FUNCTION.match(text, scope.start):
        return True
    if scope.definition < 0:
        # A method of an object begins with its name and has no arrow behind its arguments.
        return b"=>" not in text[scope.start : scope.end]
    definition = facts.definitions[scope.definition]
    return definition.kind == "method" or _FUNCTION.match(text, definition.start) is not None
