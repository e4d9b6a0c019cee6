"""The layout of a captured list: the blanks and lines around it, and what becomes of them in a rewrite."""

import re
from dataclasses import dataclass

from codeplane.refactor.structural.grammar import extent
from codeplane.refactor.structural.search import Captured

_OPENERS, _CLOSERS = "([{", ")]}"
_BLANKS = re.compile(r"[ \t]*")
_SEPARATED = re.compile(r",[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedList:
    """A list in a rewrite: the text before it, the span that is copied, and how much of what follows is skipped."""

    before: str
    start: int
    end: int
    skipped: int = 0
    moved: bool = False
    """Whether the blanks around it were copied too."""


def place_list(text: str, captured: Captured | None, before: str, after: str) -> PlacedList:
    """Put a list between the texts `before` and `after` it in a rewrite, with the layout it was found with."""
    if captured is None or not captured.nodes:
        return _place_nothing(before, after)
    end, blanks = captured.end, _BLANKS.match(after)
    follows = after[blanks.end() : blanks.end() + 1] if blanks else ""
    if follows == "," and captured.nodes[-1].text() == ",":
        # The rewrite has a separator of its own.
        end = extent(captured.nodes[-1])[0]
    lead, trail = _lead(text, captured), _trail(text, captured)
    head = before.rstrip(" \t")
    stood = text[captured.start - len(lead) - 1 : captured.start - len(lead)] if lead is not None else ""
    start, skipped = captured.start, 0
    if lead is not None and head and _is_alike(head[-1], stood, lead):
        before, start = head, captured.start - len(lead)
    if trail is not None and follows and follows in _CLOSERS and end == captured.end:
        end, skipped = end + len(trail), blanks.end() if blanks else 0
    moved = "\n" in text[start : captured.start] or "\n" in text[captured.end : end]
    return PlacedList(before=before, start=start, end=end, skipped=skipped, moved=moved)


def _place_nothing(before: str, after: str) -> PlacedList:
    """Place an empty list: a separator that would be left alone is removed too."""
    head, skipped = before, 0
    blanks = _BLANKS.match(after)
    follows = after[blanks.end() : blanks.end() + 1] if blanks else ""
    stripped = before.rstrip(" \t")
    if stripped.endswith(",") and (follows in _CLOSERS or not follows or follows == ","):
        head = stripped[:-1]
    elif stripped[-1:] in _OPENERS and follows == ",":
        separator = _SEPARATED.match(after, blanks.end() if blanks else 0)
        skipped = separator.end() if separator else 0
    return PlacedList(before=head, start=0, end=0, skipped=skipped)


def _is_alike(written: str, stood: str, lead: str) -> bool:
    """Whether a list follows the same as before: a bracket or a separator, or either of them on lines of its own."""
    if not (written == "," or written in _OPENERS) or not (stood == "," or stood in _OPENERS):
        return False
    return (written == ",") == (stood == ",") or "\n" in lead


def _lead(text: str, captured: Captured) -> str | None:
    """Return the blanks before the first piece; None if something else is there."""
    other = captured.nodes[0].prev()
    blanks = text[extent(other)[1] : captured.start] if other is not None else None
    return blanks if blanks is not None and not blanks.strip() else None


def _trail(text: str, captured: Captured) -> str | None:
    """Return the blanks between the last piece and the bracket after it."""
    other = captured.nodes[-1].next()
    if other is None or other.text() not in _CLOSERS:
        return None
    blanks = text[captured.end : extent(other)[0]]
    return blanks if not blanks.strip() else None
