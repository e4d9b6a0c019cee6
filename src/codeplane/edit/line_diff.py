"""Line-by-line comparison of two texts, by libgit2."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import AnyStr

import pygit2

# Above these sizes a unified diff only names the numbers.
_MAX_PRODUCT = 16_000_000
_MAX_CHANGED = 2_000
_MAX_DIFFED = 5_000_000
_MANY_LINES = 100_000
_CONTEXT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines `start` to `end` (from 0, end excluded) that the lines `new_start` to `new_end` replace."""

    start: int
    end: int
    new_start: int
    new_end: int

    @property
    def deletions(self) -> int:
        """The number of removed lines."""
        return self.end - self.start

    @property
    def insertions(self) -> int:
        """The number of added lines."""
        return self.new_end - self.new_start


def split_lines(text: AnyStr) -> list[AnyStr]:
    """Split a text into lines with their ends, at newlines only, as search and reading do."""
    if isinstance(text, str):
        parts = text.split("\n")
        return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    pieces = text.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def diff_lines(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> list[Hunk]:
    """Find the hunks in which two lists of lines differ; one hunk around all when there are too many lines."""
    # Only of many lines: where an insertion could stand in several places, git decides by all of them.
    head, tail = _common_ends(before, after) if len(before) + len(after) > _MANY_LINES else (0, 0)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if old == new:
        return []
    whole = Hunk(start=head, end=head + len(old), new_start=head, new_end=head + len(new))
    if not old or not new:
        return [whole]
    # Numbers stand for lines: libgit2 then compares short ones, whatever is in them.
    numbers: dict[AnyStr, int] = {}
    number = numbers.setdefault
    old_text, new_text = (b"".join([b"%d\n" % number(line, len(numbers)) for line in lines]) for lines in (old, new))
    if len(old_text) + len(new_text) > _MAX_DIFFED:
        return [whole]
    patch = pygit2.Patch.create_from(old_text, new_text, context_lines=0)
    return [_hunk(hunk, head) for hunk in patch.hunks]


def _common_ends(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> tuple[int, int]:
    """Count the equal lines at the start and at the end."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head, tail


def _hunk(hunk: pygit2.DiffHunk, head: int) -> Hunk:
    # For an empty range libgit2 names the line before it.
    start = head + hunk.old_start - (hunk.old_lines > 0)
    new_start = head + hunk.new_start - (hunk.new_lines > 0)
    return Hunk(start=start, end=start + hunk.old_lines, new_start=new_start, new_end=new_start + hunk.new_lines)


def unified_diff(path: str, before: str | None, after: str | None, *, new_path: str | None = None) -> str:
    """Format a unified diff; None is a missing file, and for too large a change only sizes are shown."""
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{new_path or path}")
    head = f"--- {names[0]}\n+++ {names[1]}\n"
    sizes = len(before or ""), len(after or "")
    if sum(sizes) > _MAX_DIFFED:
        return f"{head}@@ too large to compare: {sizes[0]} → {sizes[1]} characters @@\n"
    old, new = split_lines(before or ""), split_lines(after or "")
    if len(old) * len(new) > _MAX_PRODUCT:
        return f"{head}@@ too many lines to compare: {len(old)} → {len(new)} @@\n"
    hunks = diff_lines(old, new)
    if not hunks:
        return ""
    deletions, insertions = sum(hunk.deletions for hunk in hunks), sum(hunk.insertions for hunk in hunks)
    if deletions + insertions > _MAX_CHANGED:
        return f"{head}@@ too many lines to show: {deletions} go, {insertions} come @@\n"
    return "".join([head, *(_format(group, old, new) for group in _groups(hunks))])


def _groups(hunks: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Group the hunks whose context lines touch or overlap."""
    group = [hunks[0]]
    for hunk in hunks[1:]:
        if hunk.start - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(hunk)
    yield group


def _format(group: Sequence[Hunk], old: Sequence[str], new: Sequence[str]) -> str:
    """Format one group of hunks with a header and the context around them."""
    before = min(group[0].start, _CONTEXT)
    after = min(len(old) - group[-1].end, _CONTEXT)
    start, end = group[0].start - before, group[-1].end + after
    new_start, new_end = group[0].new_start - before, group[-1].new_end + after
    lines = [f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n"]
    at = start
    for hunk in group:
        lines += (_mark(" ", line) for line in old[at : hunk.start])
        lines += (_mark("-", line) for line in old[hunk.start : hunk.end])
        lines += (_mark("+", line) for line in new[hunk.new_start : hunk.new_end])
        at = hunk.end
    lines += (_mark(" ", line) for line in old[at:end])
    return "".join(lines)


def _range(start: int, end: int) -> str:
    """Format a range of lines for a header; an empty range names the line before it."""
    if end - start == 1:
        return f"{start + 1}"
    return f"{start + 1 if end > start else start},{end - start}"


def _mark(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
