"""Chunks: the pieces of a file that get a vector each, cut at definitions."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from codeplane.kernel.errors import InvalidArgument

TARGET = 1500
MAX = 4000
MIN = 200
# Raised when the same text would be cut in another way than before.
REVISION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A byte range of a file with its first and last line, counted from 1."""

    start: int
    end: int
    start_line: int
    end_line: int


class _Part(NamedTuple):
    """A range between two allowed cuts, and the definitions inside it."""

    low: int
    high: int
    first: int
    last: int
    whole: bool


def chunk(text: bytes, boundaries: Sequence[tuple[int, int]]) -> list[Chunk]:
    """Cut a text into chunks, in order and without overlap; `boundaries` are the byte ranges of definitions.

    A definition of up to `MAX` bytes stays whole, a longer one is cut at those inside it; others by lines.
    Neighbours under `MIN` bytes go together. A line is cut only if it alone is longer than `MAX`.
    """
    for start, end in boundaries:
        if not 0 <= start <= end <= len(text):
            raise InvalidArgument(f"a definition at {start}..{end} in a text of {len(text)} bytes")
    if not text:
        return []
    lines = _line_starts(text)
    places = _places(text, lines)
    ranges = sorted(
        {_snap_range(places, start, end) for start, end in boundaries}, key=lambda range_: (range_[0], -range_[1])
    )
    cuts = _merge_small(_cuts(places, ranges, len(text)), len(text))
    return [
        Chunk(start=start, end=end, start_line=bisect_right(lines, start), end_line=bisect_right(lines, end - 1))
        for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)
    ]


def _line_starts(text: bytes) -> list[int]:
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    starts: list[int] = [0, *ends.tolist()]
    return starts[:-1] if starts[-1] == len(text) else starts


def _places(text: bytes, lines: list[int]) -> list[int]:
    """Allowed cuts: line starts, and places inside overlong lines."""
    if np.diff(lines, append=len(text)).max() <= MAX:
        return [*lines, len(text)]
    places: list[int] = []
    for start, end in zip(lines, [*lines[1:], len(text)], strict=True):
        places.append(start)
        while end - start > MAX:
            start += MAX
            # Not inside of a character: its continuing bytes are 10xxxxxx, at most three of them.
            start -= next((back for back in range(4) if text[start - back] & 0xC0 != 0x80), 0)
            places.append(start)
    places.append(len(text))
    return places


def _snap_range(places: list[int], start: int, end: int) -> tuple[int, int]:
    """A range widened to allowed cuts, as indexes into them."""
    return bisect_right(places, start) - 1, bisect_left(places, end)


def _cuts(places: list[int], ranges: list[tuple[int, int]], length: int) -> list[int]:
    """Chunk starts before small ones are merged."""
    begins = [start for start, _ in ranges]
    cuts: list[int] = []
    # A stack and not recursion: nesting can be arbitrarily deep.
    stack = [_Part(0, len(places) - 1, 0, len(ranges), False)]
    while stack:
        part = stack.pop()
        size = places[part.high] - places[part.low]
        if size <= TARGET or (part.first == part.last and part.whole and size <= MAX):
            cuts.append(places[part.low])
        elif part.first == part.last:
            cuts.extend(_by_lines(places, part.low, part.high))
        else:
            stack.extend(reversed(_inner_parts(part, begins, ranges)))
    return cuts


def _inner_parts(part: _Part, begins: list[int], ranges: list[tuple[int, int]]) -> list[_Part]:
    """The outermost definitions of a part, and the stretches between them."""
    parts: list[_Part] = []
    at, index = part.low, part.first
    while index < part.last:
        start, end = max(ranges[index][0], at), min(ranges[index][1], part.high)
        after = bisect_left(begins, end, index + 1, part.last)
        if start < end:
            if at < start:
                parts.append(_Part(at, start, index, index, False))
            parts.append(_Part(start, end, index + 1, after, True))
            at = end
        index = after
    if at < part.high:
        parts.append(_Part(at, part.high, part.last, part.last, part.whole and at == part.low))
    return parts


def _by_lines(places: list[int], low: int, high: int) -> list[int]:
    cuts = [places[low]]
    for place, following in zip(places[low + 1 : high], places[low + 2 : high + 1], strict=True):
        if following - cuts[-1] > TARGET:
            cuts.append(place)
    return cuts


def _merge_small(cuts: list[int], length: int) -> list[int]:
    """Merge chunks under the minimum size into the next one, or the previous one."""
    ends = [*cuts[1:], length]
    starts: list[int] = []
    for index, (start, end) in enumerate(zip(cuts, ends, strict=True)):
        previous = starts[-1] if starts else None
        if previous is not None and end - previous <= MAX and (start - previous < MIN or end - start < MIN):
            # A small one ahead of a definition is its comment or decorator: it waits for what follows, if that fits.
            if start - previous >= MIN and index + 1 < len(cuts) and ends[index + 1] - start <= MAX:
                starts.append(start)
            continue
        starts.append(start)
    return _joined_back(starts, length)


def _joined_back(cuts: list[int], length: int) -> list[int]:
    """Merge chunks that are still small into the previous one."""
    starts: list[int] = []
    for start, end in zip(cuts, [*cuts[1:], length], strict=True):
        if not starts or end - start >= MIN or end - starts[-1] > MAX:
            starts.append(start)
    return starts
