"""How much of a long definition is shown, and what opens in the rest of it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

# A definition of so many lines is shown by its first ones, with an outline of the rest.
_LONG, _HEAD = 150, 100
_MOST_OPENINGS, _FEW_OPENINGS = 30, 4
_WIDTH = 80
_NO_OPENING = ("}", ")", "]", "*", "/*", "//", "#", '"""', "'''")


def shown_end(start: int, end: int, left_out: Sequence[tuple[int, int]]) -> int:
    """The last line to show, where some stretches are left out: the end, unless the definition is long."""
    hidden = {line for first, last in left_out for line in range(first + 1, last + 1)}
    shown = [line for line in range(start, end + 1) if line not in hidden]
    if len(shown) <= _LONG:
        return end
    last = shown[_HEAD - 1]
    # A stretch that is left out is left out whole.
    return next((stop for first, stop in left_out if first <= last <= stop), last)


def openings(lines: Sequence[str], first: int, last: int) -> tuple[str, ...]:
    """The outermost lines of a range below which others are indented, with their numbers."""
    rows = [(number, lines[number - 1].rstrip()) for number in range(first, last + 1)]
    opening = list(_openings([(number, row) for number, row in rows if row.strip()]))
    chosen: list[tuple[int, str]] = []
    for indent in sorted({_indent(row) for _, row in opening}):
        deeper = [(number, row) for number, row in opening if _indent(row) <= indent]
        if chosen and len(deeper) > _MOST_OPENINGS:
            break
        chosen = deeper
        if len(chosen) >= _FEW_OPENINGS:
            break
    listed = [f"  {number}: {row.strip()[:_WIDTH]}" for number, row in chosen[:_MOST_OPENINGS]]
    if len(chosen) > _MOST_OPENINGS:
        listed.append(f"  and {len(chosen) - _MOST_OPENINGS} more")
    return tuple(listed)


def _openings(rows: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for (number, row), (_, below) in pairwise(rows):
        if _indent(below) > _indent(row) and not row.lstrip().startswith(_NO_OPENING):
            yield number, row


def _indent(row: str) -> int:
    row = row.expandtabs(4)
    return len(row) - len(row.lstrip())
