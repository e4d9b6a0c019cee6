"""Whose `this` it is, by the functions around a place."""

import re

from codeplane.repo.facts.model import Facts, Scope

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
            if _own(facts, text, scope):
                return -1
        elif scope.kind == "object":
            return -1
        at = scope.parent
    return -1


def _own(facts: Facts, text: bytes, scope: Scope) -> bool:
    """Whether a function has its own `this`: all but arrows do."""
    if _FUNCTION.match(text, scope.start):
        return True
    if scope.definition < 0:
        # A method of an object begins with its name and has no arrow behind its arguments.
        return b"=>" not in text[scope.start : scope.end]
    definition = facts.definitions[scope.definition]
    return definition.kind == "method" or _FUNCTION.match(text, definition.start) is not None
