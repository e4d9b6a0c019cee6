"""Text with changes in it, line by line or side by side."""

import re
from dataclasses import dataclass
from itertools import takewhile

from markupsafe import Markup, escape

_HEADS = ("diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "rename ", "similarity ")
_PLACE = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
# Lines that share less than this are others, not the same line changed.
_ALIKE = 0.4

Numbered = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line and what it is: added, removed, a place, a head, or nothing of the kind."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One row of two columns; a place heads what follows."""

    kind: str
    left_number: int | None = None
    left: str = ""
    right_number: int | None = None
    right: str = ""


def lines_of(preview: str) -> list[Line]:
    """A preview as lines; if it holds a unified diff, its lines are told apart."""
    lines = preview.splitlines()
    is_diff = any(line.startswith("@@") for line in lines)
    return [Line(kind=_kind(line) if is_diff else "", text=line) for line in lines]


def _kind(line: str) -> str:
    if line.startswith("@@"):
        return "place"
    if line.startswith(_HEADS):
        return "head"
    return {"+": "added", "-": "removed"}.get(line[:1], "")


def pairs_of(unified: str) -> list[Pair]:
    """A unified diff of one file in two columns: what was on the left, what is on the right."""
    pairs: list[Pair] = []
    removed: list[Numbered] = []
    added: list[Numbered] = []
    left = right = 0
    for line in unified.split("\n"):
        sign, said = line[:1], line[1:].removesuffix("\r")
        if not pairs and line.startswith(("--- ", "+++ ")):
            continue
        if sign == "-":
            removed.append((left, said))
            left += 1
        elif sign == "+":
            added.append((right, said))
            right += 1
        elif sign == " ":
            pairs += _beside(removed, added)
            removed, added = [], []
            pairs.append(Pair(kind="same", left_number=left, left=said, right_number=right, right=said))
            left, right = left + 1, right + 1
        elif sign == "@":
            pairs += _beside(removed, added)
            removed, added = [], []
            if found := _PLACE.match(line):
                left, right = int(found[1]), int(found[2])
            pairs.append(Pair(kind="place", left=line))
    return pairs + _beside(removed, added)


def _beside(removed: list[Numbered], added: list[Numbered]) -> list[Pair]:
    """What went beside what came in its place; what differs within a line is marked."""
    pairs = []
    for at in range(max(len(removed), len(added))):
        left = removed[at] if at < len(removed) else None
        right = added[at] if at < len(added) else None
        old, new = _marked(left[1], right[1]) if left and right else (left and left[1], right and right[1])
        pairs.append(
            Pair(
                kind="changed" if left and right else "removed" if left else "added",
                left_number=left[0] if left else None,
                left=old or "",
                right_number=right[0] if right else None,
                right=new or "",
            )
        )
    return pairs


def _marked(old: str, new: str) -> tuple[str, str]:
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    if head + tail < _ALIKE * max(len(old), len(new)):
        return old, new
    return _within(old, head, tail), _within(new, head, tail)


def _shared(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


def _within(line: str, head: int, tail: int) -> str:
    end = len(line) - tail
    if head >= end:
        return line
    return escape(line[:head]) + Markup("<b>") + escape(line[head:end]) + Markup("</b>") + escape(line[end:])
