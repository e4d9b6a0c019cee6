"""As much of a text as there is room for."""

from collections.abc import Sequence

from codeplane.kernel.counted import counted


def fitting(lines: Sequence[str], room: int, *, more: str = "raise budget") -> list[str]:
    """As many whole lines as there is room for, and word of the rest."""
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return [
                *lines[:count],
                f"… {counted(len(lines) - count, 'more line', verbs=('does', 'do'))} not fit; {more}",
            ]
    return list(lines)
