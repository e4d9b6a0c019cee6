"""What a function of TypeScript says that it gives, and the calls that a variable is given the result of."""

import re

from codeplane.code.languages.expression import InComment, Step, declared_type
from codeplane.code.model import Definition

_MAKING = re.compile(rb"\s*=(?![=>])\s*(?!new\b|await\b|yield\b|async\b|function\b)")
_NAME = re.compile(rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_DOT = re.compile(rb"\s*\??\.\s*(?=[A-Za-z_$])")
_TYPE_ARGUMENTS = re.compile(rb"<[^<>()=;{}]*(?:<[^<>()=;{}]*>[^<>()=;{}]*)*>(?=\()")
# What follows on the line, or begins the next one, ends the expression.
_ENDS = re.compile(rb"[ \t]*(?:[;,)}\]]|$|//|\r?\n\s*(?:[\w$}\])@;#'\"]|//|/\*|$))")
_CONSTANT = re.compile(rb"\bconst\s+$")
_GETTER = re.compile(rb"\bget\s+$")
_MAX_CALL = 4_000
_MAX_STEPS = 8


def written_result(text: bytes, definition: Definition, in_text: InComment) -> tuple[bytes, int] | None:
    """The one name that stands behind the parameters of a function: `name(…): Chain`."""
    opened = text.find(b"(", definition.name_at, definition.end)
    closed = _closing(text, opened, in_text) if opened >= 0 else None
    return declared_type(text, closed) if closed is not None else None


def is_getter(text: bytes, definition: Definition) -> bool:
    """Whether a method is read as a field."""
    return _GETTER.search(text, max(0, definition.name_at - 20), definition.name_at) is not None


def assigned_call(text: bytes, name_end: int, in_text: InComment) -> tuple[Step, ...] | None:
    """The chain of names and calls that a variable is given where it is bound: `= a.b().c()`, and nothing behind it."""
    start = _MAKING.match(text, name_end)
    at = start.end() if start else len(text)
    steps: list[Step] = []
    while len(steps) < _MAX_STEPS:
        name = _NAME.match(text, at)
        if name is None:
            return None
        at = name.end()
        arguments = _TYPE_ARGUMENTS.match(text, at)
        at = arguments.end() if arguments else at
        called = text[at : at + 1] == b"("
        if called:
            closed = _closing(text, at, in_text)
            if closed is None:
                return None
            at = closed
        steps.append(Step(name[0].decode("utf-8", "replace"), name.start(), called))
        dot = _DOT.match(text, at)
        if dot is None:
            return tuple(steps) if called and _ENDS.match(text, at) else None
        at = dot.end()
    return None


def copied_function(text: bytes, name_at: int, name_end: int) -> tuple[Step, ...] | None:
    """The chain of names that a constant is another name of: `const text = Text.create;`."""
    start = _MAKING.match(text, name_end) if _CONSTANT.search(text, max(0, name_at - 20), name_at) else None
    at = start.end() if start else len(text)
    steps: list[Step] = []
    while len(steps) < _MAX_STEPS:
        name = _NAME.match(text, at)
        if name is None:
            return None
        at = name.end()
        steps.append(Step(name[0].decode("utf-8", "replace"), name.start(), False))
        dot = _DOT.match(text, at)
        if dot is None:
            return tuple(steps) if _ENDS.match(text, at) else None
        at = dot.end()
    return None


def _closing(text: bytes, at: int, in_text: InComment) -> int | None:
    """The place behind the bracket that closes the one at a place; those in strings and comments do not count."""
    depth = 0
    for place in range(at, min(at + _MAX_CALL, len(text))):
        char = text[place]
        if char in b"([{" and not in_text(place):
            depth += 1
        elif char in b")]}" and not in_text(place):
            depth -= 1
            if depth == 0:
                return place + 1
    return None
