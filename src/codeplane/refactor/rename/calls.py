"""Calls with keyword arguments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codeplane.code.model import Facts
from codeplane.refactor.rename.rename_context import RenameContext

_WORD = re.compile(rb"[\w\x80-\xff]+$")
_FAR = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call with a keyword argument: the last name of what is called, and where its arguments begin."""

    path: str
    at: int
    callee: str
    callee_at: int
    opened: int
    twice: bool = False
    """Whether the result of a call of that name is called."""
    heading: bool = False
    """Whether it is the heading of a class, whose arguments go to its bases."""


def calls_naming(context: RenameContext, path: str, facts: Facts, name: str) -> Iterator[Call]:
    """Yield the calls in a file that pass an argument of a name."""
    if not facts.labels:
        return
    for at in context.places(path, name):
        call = call_at(context, path, facts, at)
        if call is not None:
            yield call


def call_at(context: RenameContext, path: str, facts: Facts, at: int) -> Call | None:
    """Return the call in which a name at a place is a keyword argument."""
    text = context.world.text(path)
    opened = _opening_parenthesis(text, facts, at) if at in facts.labels else None
    if opened is None:
        return None
    twice = text[opened - 1 : opened] == b")"
    inner = _opening_parenthesis(text, facts, opened - 1) if twice else opened
    word = _WORD.search(text, max(0, inner - 200), inner) if inner is not None else None
    if word is None or text[max(0, word.start() - 4) : word.start()] == b"def ":
        return None
    heading = text[max(0, word.start() - 6) : word.start()] == b"class "
    callee = word[0].decode("utf-8", "replace")
    return Call(path=path, at=at, callee=callee, callee_at=word.start(), opened=opened, twice=twice, heading=heading)


def _opening_parenthesis(text: bytes, facts: Facts, at: int) -> int | None:
    """Return the parenthesis that opens the arguments around a name, ignoring strings and comments."""
    spans = facts.texts
    span = int(spans[:, 0].searchsorted(at)) - 1
    depth, index = 0, at - 1
    least = max(0, at - _FAR)
    while index >= least:
        while span >= 0 and int(spans[span, 0]) > index:
            span -= 1
        if span >= 0 and index < int(spans[span, 1]):
            index = int(spans[span, 0]) - 1
            continue
        char = text[index]
        if char in b")]}":
            depth += 1
        elif char in b"([{":
            if depth == 0:
                return index if char == ord("(") else None
            depth -= 1
        index -= 1
    return None
