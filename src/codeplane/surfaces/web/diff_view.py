"""Diffs for display, line by line or side by side."""

import re
from dataclasses import dataclass
from itertools import takewhile

from markupsafe import Markup, escape

_HEADS = ("diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "rename ", "similarity ")
_PLACE = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
# Lines that share less than this are others, not the same line changed.
_ALIKE = 0.4

NumberedLine = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line and its kind: added, removed, place (`@@`), head, or none."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePair:
    """A row of two columns; a place (`@@`) heads the rows that follow."""

    kind: str
    left_number: int | None = None
    left: str = ""
    right_number: int | None = None
    right: str = ""


def split_preview(preview: str) -> list[DiffLine]:
    """Split a preview into lines, with their kinds if it is a unified diff."""
    lines = preview.splitlines()
    is_diff = any(line.startswith("@@") for line in lines)
    return [DiffLine(kind=_kind(line) if is_diff else "", text=line) for line in lines]


def _kind(line: str) -> str:
    if line.startswith("@@"):
        return "place"
    if line.startswith(_HEADS):
        return "head"
    return {"+": "added", "-": "removed"}.get(line[:1], "")


def pair_lines(unified: str) -> list[LinePair]:
    """Convert a unified diff of one file to two columns: old on the left, new on the right."""
    pairs: list[LinePair] = []
    removed: list[NumberedLine] = []
    added: list[NumberedLine] = []
    left = right = 0
    for line in unified.split("\n"):
        sign, text = line[:1], line[1:].removesuffix("\r")
        if not pairs and line.startswith(("--- ", "+++ ")):
            continue
        if sign == "-":
            removed.append((left, text))
            left += 1
        elif sign == "+":
            added.append((right, text))
            right += 1
        elif sign == " ":
            pairs += _pair_changes(removed, added)
            removed, added = [], []
            pairs.append(LinePair(kind="same", left_number=left, left=text, right_number=right, right=text))
            left, right = left + 1, right + 1
        elif sign == "@":
            pairs += _pair_changes(removed, added)
            removed, added = [], []
            if match := _PLACE.match(line):
                left, right = int(match[1]), int(match[2])
            pairs.append(LinePair(kind="place", left=line))
    return pairs + _pair_changes(removed, added)


def _pair_changes(removed: list[NumberedLine], added: list[NumberedLine]) -> list[LinePair]:
    """Pair removed lines with added ones, and mark what differs within a line."""
    pairs = []
    for at in range(max(len(removed), len(added))):
        left = removed[at] if at < len(removed) else None
        right = added[at] if at < len(added) else None
        old, new = _mark_changes(left[1], right[1]) if left and right else (left and left[1], right and right[1])
        pairs.append(
            LinePair(
                kind="changed" if left and right else "removed" if left else "added",
                left_number=left[0] if left else None,
                left=old or "",
                right_number=right[0] if right else None,
                right=new or "",
            )
        )
    return pairs


def _mark_changes(old: str, new: str) -> tuple[str, str]:
    head = _shared_prefix(old, new)
    tail = _shared_prefix(old[head:][::-1], new[head:][::-1])
    if head + tail < _ALIKE * max(len(old), len(new)):
        return old, new
    return _embolden(old, head, tail), _embolden(new, head, tail)


def _shared_prefix(line: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(line, other, strict=False)))


def _embolden(line: str, head: int, tail: int) -> str:
    end = len(line) - tail
    if head >= end:
        return line
    return escape(line[:head]) + Markup("<b>") + escape(line[head:end]) + Markup("</b>") + escape(line[end:])
