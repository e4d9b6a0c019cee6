"""Where two texts differ, line by line, in time that stays bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from functools import lru_cache
from typing import AnyStr

import pygit2

_MAX_PRODUCT = 4_000_000
_STEPS_A_LINE, _STEPS_AT_LEAST = 500, 500_000
_MAX_CHANGED = 2_000
_MAX_DIFFED = 5_000_000
_CONTEXT = 3


class Matcher(SequenceMatcher[int]):
    """A SequenceMatcher that stops looking for what is alike after so many steps, and calls the rest different."""

    a: Sequence[int]
    b2j: dict[int, list[int]]

    def __init__(self, before: Sequence[int], after: Sequence[int], *, steps: int, autojunk: bool = True) -> None:
        self.steps = steps
        super().__init__(None, before, after, autojunk=autojunk)

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """The longest stretch alike, or none when finding it would take more steps than are left."""
        end = len(self.a) if ahi is None else ahi
        # What the search is about to walk: for every item, all its places on the other side.
        self.steps -= sum(1 + len(self.b2j.get(self.a[at], ())) for at in range(alo, end))
        if self.steps < 0:
            return Match(alo, blo, 0)
        return super().find_longest_match(alo, end, blo, bhi)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Lines `start` to `end` (from 0, the end not included) that others took the place of."""

    start: int
    end: int
    new_start: int
    new_end: int

    @property
    def deletions(self) -> int:
        """Lines that went."""
        return self.end - self.start

    @property
    def insertions(self) -> int:
        """Lines that came."""
        return self.new_end - self.new_start


def lines_of(text: AnyStr) -> list[AnyStr]:
    """Lines with their ends, where search and reading end them: at a newline and nowhere else."""
    if isinstance(text, str):
        parts = text.split("\n")
        return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    pieces = text.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def hunks(before: Sequence[AnyStr], after: Sequence[AnyStr]) -> list[Hunk]:
    """The stretches that differ; of what is too large to compare, one stretch around all of them."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if not old or not new:
        return [Hunk(start=head, end=head + len(old), new_start=head, new_end=head + len(new))]
    if len(old) * len(new) > _MAX_PRODUCT:
        return _of_many(old, new, head)
    before_ids, after_ids = _numbered(old, new)
    return [
        Hunk(start=head + start, end=head + end, new_start=head + new_start, new_end=head + new_end)
        for tag, start, end, new_start, new_end in _opcodes(tuple(before_ids), tuple(after_ids))
        if tag != "equal"
    ]


@lru_cache(maxsize=64)
def _opcodes(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[tuple[str, int, int, int, int], ...]:
    """What differs between numbered lines; remembered, since each step of an edit compares the same versions."""
    return tuple(_numbered_matcher(before, after, autojunk=False).get_opcodes())


def _of_many(old: Sequence[AnyStr], new: Sequence[AnyStr], head: int) -> list[Hunk]:
    """The same for many lines, by git's own comparison, which gives up in time."""
    before, after = (
        b"".join(line.encode() if isinstance(line, str) else line for line in lines) for lines in (old, new)
    )
    if len(before) + len(after) > _MAX_DIFFED:
        return [Hunk(start=head, end=head + len(old), new_start=head, new_end=head + len(new))]
    patch = pygit2.Patch.create_from(before, after, context_lines=0, flag=pygit2.enums.DiffOption.FORCE_TEXT)
    found = []
    for one in patch.hunks:
        # Without lines on one side git names the line before them.
        start = head + one.old_start - (one.old_lines > 0)
        new_start = head + one.new_start - (one.new_lines > 0)
        found.append(
            Hunk(start=start, end=start + one.old_lines, new_start=new_start, new_end=new_start + one.new_lines)
        )
    return found


def diff(path: str, before: str | None, after: str | None, *, new_path: str | None = None) -> str:
    """A unified diff; without a text on one side the file comes or goes, and what is too much is only counted."""
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{new_path or path}")
    head = f"--- {names[0]}\n+++ {names[1]}\n"
    sizes = len(before or ""), len(after or "")
    if sum(sizes) > _MAX_DIFFED:
        return f"{head}@@ too large to compare: {sizes[0]} → {sizes[1]} characters @@\n"
    old, new = lines_of(before or ""), lines_of(after or "")
    if len(old) * len(new) > _MAX_PRODUCT * 4:
        return f"{head}@@ too many lines to compare: {len(old)} → {len(new)} @@\n"
    matcher = _matcher(old, new, autojunk=True)
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if not changed:
        return ""
    gone, come = sum(code[2] - code[1] for code in changed), sum(code[4] - code[3] for code in changed)
    if gone + come > _MAX_CHANGED:
        return f"{head}@@ too many lines to show: {gone} go, {come} come @@\n"
    found = [head]
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        found.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                found += (_marked(" ", line) for line in old[start:end])
                continue
            found += (_marked("-", line) for line in old[start:end])
            found += (_marked("+", line) for line in new[new_start:new_end])
    return "".join(found)


def _matcher(old: Sequence[AnyStr], new: Sequence[AnyStr], *, autojunk: bool) -> Matcher:
    return _numbered_matcher(*_numbered(old, new), autojunk=autojunk)


def _numbered(old: Sequence[AnyStr], new: Sequence[AnyStr]) -> tuple[list[int], list[int]]:
    """Numbers for lines, so that long ones are compared once and not at every step."""
    ids: dict[AnyStr, int] = {}
    return [ids.setdefault(line, len(ids)) for line in old], [ids.setdefault(line, len(ids)) for line in new]


def _numbered_matcher(before: Sequence[int], after: Sequence[int], *, autojunk: bool) -> Matcher:
    steps = _STEPS_AT_LEAST + _STEPS_A_LINE * (len(before) + len(after))
    return Matcher(before, after, steps=steps, autojunk=autojunk)


def _range(start: int, end: int) -> str:
    """Lines as unified diffs name them: an empty range by the line before it."""
    if end - start == 1:
        return f"{start + 1}"
    return f"{start + 1 if end > start else start},{end - start}"


def _marked(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
