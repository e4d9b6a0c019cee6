"""Replacing lines by their numbers: from 1, both ends included; `start` one after `end` inserts before `start`."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from codeplane.edit.hunks import lines_of
from codeplane.edit.text import Span
from codeplane.kernel.counted import counted
from codeplane.kernel.errors import EditMismatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Some lines and what takes their place."""

    start: int
    end: int
    text: str


def spans_of(plain: str, wanted: Sequence[Lines], *, path: str) -> list[Span]:
    """The stretches these lines are; EditMismatch when they are not there or overlap."""
    lines = lines_of(plain)
    starts = list(accumulate(map(len, lines), initial=0))
    ordered = sorted(wanted, key=lambda one: (one.start, one.end))
    for one, following in pairwise(ordered):
        if following.start <= one.end or (one.start, one.end) == (following.start, following.end):
            raise EditMismatch(
                f"{path}: lines {one.start}-{one.end} and {following.start}-{following.end} overlap",
                hint="make one range of them; nothing was written",
            )
    return [_span(one, lines, starts, plain, path) for one in ordered]


def _span(one: Lines, lines: Sequence[str], starts: Sequence[int], plain: str, path: str) -> Span:
    if not 1 <= one.start <= len(lines) + 1 or not one.start - 1 <= one.end <= len(lines):
        raise EditMismatch(
            f"{path} has {counted(len(lines), 'line')}; {one.start}-{one.end} is no range of them",
            hint="lines count from 1; start = end + 1 inserts before start; nothing was written",
        )
    start, end = starts[one.start - 1], starts[one.end]
    text = one.text.replace("\r\n", "\n")
    if not text:
        return Span(start=start, end=end, text="")
    unended = bool(plain) and not plain.endswith("\n")
    if unended and end == len(plain):
        # A file that ends without a newline stays so.
        text = text.removesuffix("\n")
        if start == len(plain):
            text = f"\n{text}"
    elif not text.endswith("\n"):
        text += "\n"
    return Span(start=start, end=end, text=text)
