"""How a list of pieces stood where it was found: the blanks and lines around it, and what they become elsewhere."""

import re
from dataclasses import dataclass

from codeplane.refactor.structural.grammar import extent
from codeplane.refactor.structural.search import Captured

_OPENERS, _CLOSERS = "([{", ")]}"
_BLANKS = re.compile(r"[ \t]*")
_SEPARATED = re.compile(r",[ \t]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A list in a rewrite: what is before it, the stretch that is taken over, how much of what follows is left out."""

    before: str
    start: int
    end: int
    skipped: int = 0
    moved: bool = False
    """Whether the blanks around it came along."""


def placed(text: str, captured: Captured | None, before: str, after: str) -> Placed:
    """Put a list between what a rewrite says `before` and `after` it, with the layout it was found with."""
    if captured is None or not captured.nodes:
        return _nothing(before, after)
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
    return Placed(before=before, start=start, end=end, skipped=skipped, moved=moved)


def _nothing(before: str, after: str) -> Placed:
    """No piece at all: a separator that would stand alone goes, too."""
    head, skipped = before, 0
    blanks = _BLANKS.match(after)
    follows = after[blanks.end() : blanks.end() + 1] if blanks else ""
    stripped = before.rstrip(" \t")
    if stripped.endswith(",") and (follows in _CLOSERS or not follows or follows == ","):
        head = stripped[:-1]
    elif stripped[-1:] in _OPENERS and follows == ",":
        separator = _SEPARATED.match(after, blanks.end() if blanks else 0)
        skipped = separator.end() if separator else 0
    return Placed(before=head, start=0, end=0, skipped=skipped)


def _is_alike(written: str, stood: str, lead: str) -> bool:
    """Whether a list comes to stand after what it stood after: a bracket, a separator, or either on its own lines."""
    if not (written == "," or written in _OPENERS) or not (stood == "," or stood in _OPENERS):
        return False
    return (written == ",") == (stood == ",") or "\n" in lead


def _lead(text: str, captured: Captured) -> str | None:
    """The blanks before the first piece; None where something else is there."""
    other = captured.nodes[0].prev()
    said = text[extent(other)[1] : captured.start] if other is not None else None
    return said if said is not None and not said.strip() else None


def _trail(text: str, captured: Captured) -> str | None:
    """The blanks between the last piece and the bracket after it."""
    other = captured.nodes[-1].next()
    if other is None or other.text() not in _CLOSERS:
        return None
    said = text[captured.end : extent(other)[0]]
    return said if not said.strip() else None
