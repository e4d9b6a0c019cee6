"""A character budget for lines of text."""

from collections.abc import Sequence

from codeplane.kernel.plural import plural


def fit_lines(lines: Sequence[str], room: int, *, more: str = "raise budget") -> list[str]:
    """The whole lines that fit, and a note on the rest."""
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [
                *lines[:count],
                f"… {plural(len(lines) - count, 'more line', verbs=('does', 'do'))} not fit; {more}",
            ]
    return list(lines)
