"""Exact search: matching lines, ordered by path and line."""

import heapq
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from codeplane.index.snapshot import IndexedFile, Snapshot
from codeplane.query.search.pattern import Pattern

_MAX_SPANS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A matching line: its file, number, place in the content, and spans."""

    known: IndexedFile
    number: int
    start: int
    end: int
    spans: tuple[tuple[int, int], ...]

    @property
    def order(self) -> tuple[bytes, int]:
        """The sort key."""
        return os.fsencode(self.known.path), self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of lines, the number seen so far, and whether the search is complete."""

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
    """Return a page of matching lines after a place, counting further for a while."""
    skip = (os.fsencode(after[0]), after[1]) if after else None
    lines: list[Line] = []
    files: set[str] = set()
    seen = 0
    stop_counting: float | None = None
    for line in _lines(snapshot, pattern, keep, after[0] if after else None):
        if skip is not None and line.order <= skip:
            continue
        seen += 1
        files.add(line.known.path)
        if len(lines) < limit:
            lines.append(line)
        elif stop_counting is None:
            stop_counting = min(time.monotonic() + count_for_sec, deadline)
            if not snapshot.recent:
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
    """Count matching lines from a place on, within the time limit."""
    content, end, last, seen = snapshot.content, snapshot.sorted_until, -1, 0
    while position < end:
        match = pattern.find(content, position, end)
        if match is None:
            return seen, True
        if match[0] >= last:
            known = snapshot.at(match[0])
            if known is None:
                position = max(snapshot.next_offset(match[0]), match[0] + 1)
                continue
            last = known.offset + known.length
            if keep is not None and not keep(known.path):
                position, last = last + 1, -1
                continue
            files.add(known.path)
        line_end = content.find(b"\n", max(match[0], match[1] - 1), last)
        position = (last if line_end < 0 else line_end) + 1
        seen += 1
        if time.monotonic() > until:
            return seen, False
    return seen, True


def _lines(
    snapshot: Snapshot, pattern: Pattern, keep: Callable[[str], bool] | None, first: str | None
) -> Iterator[Line]:
    """Matching lines in order: the sorted part in one sweep, appended files one by one."""
    recent = [
        known
        for known in snapshot.recent
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
        match = pattern.find(content, position, end)
        if match is None:
            return
        known = snapshot.at(match[0])
        if known is None:
            # Text of a version that is gone: go on behind it.
            position = max(snapshot.next_offset(match[0]), match[0] + 1)
        elif keep is not None and not keep(known.path):
            position = known.offset + known.length + 1
        else:
            yield from _in_file(snapshot, pattern, known, match)
            position = known.offset + known.length + 1


def _in_file(
    snapshot: Snapshot, pattern: Pattern, known: IndexedFile, match: tuple[int, int] | None = None
) -> Iterator[Line]:
    content, last = snapshot.content, known.offset + known.length
    match = match or pattern.find(content, known.offset, last)
    number, counted_to = 1, known.offset
    while match is not None and match[0] < last:
        start = content.rfind(b"\n", known.offset, match[0]) + 1 or known.offset
        end = content.find(b"\n", max(match[0], match[1] - 1), last)
        end = last if end < 0 else end
        number += bytes(content[counted_to:start]).count(b"\n")
        counted_to = start
        spans = []
        while match is not None and match[0] <= end and match[0] < last:
            spans.append((match[0] - start, match[1] - start))
            # An empty match says no more than that the line matches.
            enough = match[0] == match[1] or len(spans) >= _MAX_SPANS
            match = pattern.find(content, end + 1 if enough else match[1], last)
        yield Line(known=known, number=number, start=start, end=end, spans=tuple(spans))
