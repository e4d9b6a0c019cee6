"""Checks such as `isinstance` that narrow what a receiver is before it is used."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*)*")
_ASKED = (b"isinstance(", b"type(", b"match ")
_AFTER = {b"isinstance(": rb"\s*,\s*([^()]{1,300}|\([^()]{1,300}\))\)", b"type(": rb"\s*\)", b"match ": rb"\s*:"}
_FAR = 20_000


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A question about a receiver; `classes` are the names it is compared with, each with its place.

    `around` says that the use stands in what the question governs, so that the answer holds there.
    """

    classes: tuple[tuple[bytes, int], ...]
    around: bool


def narrowings(text: bytes, start: int, use: int, chain: bytes) -> Iterator[Narrowing]:
    """The questions between the start of a function and a use that are about a chain of names."""
    start = max(start, use - _FAR)
    for asked in _ASKED:
        wanted = asked + chain
        at = text.find(wanted, start, use)
        while at >= 0:
            after = re.compile(_AFTER[asked]).match(text, at + len(wanted))
            if after is not None:
                class_span = after.span(1) if asked == b"isinstance(" else (0, 0)
                classes = tuple((match[0], match.start()) for match in _NAME.finditer(text, *class_span))
                yield Narrowing(classes, _governs(text, at, use))
            at = text.find(wanted, at + 1, use)


def _governs(text: bytes, at: int, use: int) -> bool:
    """Whether a use is on the line of a question, or in the block below it, by indentation."""
    line = text.rfind(b"\n", 0, at) + 1
    between = text[at:use].split(b"\n")
    if len(between) == 1:
        return True
    indent = _indent(text[line:at])
    return all(_indent(piece) > indent for piece in (*(line for line in between[1:-1] if line.strip()), between[-1]))


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))
