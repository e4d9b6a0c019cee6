"""Exact search: every line that matches, in the order of paths and lines."""

import heapq
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeplane.index.snapshot import Known, Snapshot
from codeplane.query.search.pattern import Pattern

_MAX_SPANS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that matches: where it is, its bytes' place in the content, and where in it the matches are."""

    known: Known
    number: int
    start: int
    end: int
    spans: tuple[tuple[int, int], ...]

    @property
    def order(self) -> tuple[bytes, int]:
        """Its place among all lines."""
        return os.fsencode(self.known.path), self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some lines, how many there are at least, and whether that is all."""

    lines: tuple[Line, ...]
    seen: int
    files: int
    complete: bool


def scan(
    snapshot: Snapshot,
    pattern: Pattern,
    *,
    keep: Callable[[str], bool] | None,
    after: tuple[str, int] | None,
    limit: int,
    count_for_sec: float,
    deadline: float,
) -> Page:
    """One page of matching lines after a place; goes on counting for a while so that the total is known."""
    skip = (os.fsencode(after[0]), after[1]) if after else None
    lines: list[Line] = []
    files: set[str] = set()
    seen = 0
    stop_counting: float | None = None
    written = _written_since(snapshot)
    for line in _lines(snapshot, pattern, keep, after[0] if after else None):
        if skip is not None and line.order <= skip:
            continue
        seen += 1
        files.add(line.known.path)
        if len(lines) < limit:
            lines.append(line)
        elif stop_counting is None:
            stop_counting = min(time.monotonic() + count_for_sec, deadline)
            if not written:
                more, complete = _count(snapshot, pattern, keep, line.end + 1, files, stop_counting)
                return Page(lines=tuple(lines), seen=seen + more, files=len(files), complete=complete)
        if time.monotonic() > (stop_counting or deadline):
            return Page(lines=tuple(lines), seen=seen, files=len(files), complete=False)
    return Page(lines=tuple(lines), seen=seen, files=len(files), complete=True)


def _count(
    snapshot: Snapshot,
    pattern: Pattern,
    keep: Callable[[str], bool] | None,
    position: int,
    files: set[str],
    until: float,
) -> tuple[int, bool]:
    """How many lines match from a place on, as far as time allows; nothing is made of them, which is much faster."""
    content, end, last, seen = snapshot.content, snapshot.sorted_until, -1, 0
    while position < end:
        found = pattern.find(content, position, end)
        if found is None:
            return seen, True
        if found[0] >= last:
            known = snapshot.at(found[0])
            if known is None:
                position = max(snapshot.next_offset(found[0]), found[0] + 1)
                continue
            last = known.offset + known.length
            if keep is not None and not keep(known.path):
                position, last = last + 1, -1
                continue
            files.add(known.path)
        line_end = content.find(b"\n", max(found[0], found[1] - 1), last)
        position = (last if line_end < 0 else line_end) + 1
        seen += 1
        if time.monotonic() > until:
            return seen, False
    return seen, True


def _written_since(snapshot: Snapshot) -> bool:
    """Whether a file lies behind the sorted part: one that was written since."""
    return snapshot.next_offset(snapshot.sorted_until - 1) < len(snapshot.content)


def _lines(
    snapshot: Snapshot, pattern: Pattern, keep: Callable[[str], bool] | None, first: str | None
) -> Iterator[Line]:
    """Matching lines in order: of the sorted part in one sweep, of files written since one by one."""
    recent = [
        known
        for known in (snapshot.recent() if _written_since(snapshot) else ())
        if (keep is None or keep(known.path)) and (first is None or os.fsencode(known.path) >= os.fsencode(first))
    ]
    late = (line for known in recent for line in _in_file(snapshot, pattern, known))
    sorted_part = _sweep(snapshot, pattern, keep, first)
    return heapq.merge(sorted_part, late, key=lambda line: line.order) if recent else sorted_part


def _sweep(
    snapshot: Snapshot, pattern: Pattern, keep: Callable[[str], bool] | None, first: str | None
) -> Iterator[Line]:
    content, end = snapshot.content, snapshot.sorted_until
    position = snapshot.first_offset(first) if first is not None else 0
    while position < end:
        found = pattern.find(content, position, end)
        if found is None:
            return
        known = snapshot.at(found[0])
        if known is None:
            # Text of a version that is gone: go on behind it.
            position = max(snapshot.next_offset(found[0]), found[0] + 1)
        elif keep is not None and not keep(known.path):
            position = known.offset + known.length + 1
        else:
            yield from _in_file(snapshot, pattern, known, found)
            position = known.offset + known.length + 1


def _in_file(
    snapshot: Snapshot, pattern: Pattern, known: Known, found: tuple[int, int] | None = None
) -> Iterator[Line]:
    content, last = snapshot.content, known.offset + known.length
    found = found or pattern.find(content, known.offset, last)
    number, counted_to = 1, known.offset
    while found is not None and found[0] < last:
        start = content.rfind(b"\n", known.offset, found[0]) + 1 or known.offset
        end = content.find(b"\n", max(found[0], found[1] - 1), last)
        end = last if end < 0 else end
        number += bytes(content[counted_to:start]).count(b"\n")
        counted_to = start
        spans = []
        while found is not None and found[0] <= end and found[0] < last:
            spans.append((found[0] - start, found[1] - start))
            # An empty match says no more than that the line matches.
            enough = found[0] == found[1] or len(spans) >= _MAX_SPANS
            found = pattern.find(content, end + 1 if enough else found[1], last)
        yield Line(known=known, number=number, start=start, end=end, spans=tuple(spans))
