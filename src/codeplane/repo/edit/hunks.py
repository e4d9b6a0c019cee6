"""Where two texts differ, line by line, in time that stays bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from typing import AnyStr

_MAX_PRODUCT = 4_000_000


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
    """The stretches that differ; where comparing would take long, one stretch around all of them."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old and not new:
        return []
    if not old or not new or len(old) * len(new) > _MAX_PRODUCT:
        return [Hunk(start=head, end=head + len(old), new_start=head, new_end=head + len(new))]
    return [
        Hunk(start=head + start, end=head + end, new_start=head + new_start, new_end=head + new_end)
        for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def diff(path: str, before: str | None, after: str | None, *, new_path: str | None = None) -> str:
    """A unified diff; without a text on one side the file comes or goes."""
    old, new = lines_of(before or ""), lines_of(after or "")
    if len(old) * len(new) > _MAX_PRODUCT * 4:
        return f"--- a/{path}\n+++ b/{new_path or path}\n@@ too many lines to compare: {len(old)} → {len(new)} @@\n"
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{new_path or path}")
    found = []
    for line in unified_diff(old, new, *names, n=3):
        found.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(found)
