"""A change of a definition between two states."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from codeplane.code.languages.contract import Visibility
from codeplane.index.path_kinds import is_test
from codeplane.query.compare.lines import LineChange
from codeplane.query.compare.outline import Outline
from codeplane.query.compare.pairing import Pair

Kind = Literal["added", "removed", "signature_changed", "body_changed", "renamed", "moved"]
Risk = Literal["low", "medium", "high", "unknown"]


@dataclass(slots=True, kw_only=True)
class Change:
    """A changed definition; `itself` is false if only its members changed."""

    pair: Pair
    change: Kind
    breaking: bool = False
    why: tuple[str, ...] = ()
    keeps_calls: bool = False
    """Of a changed signature: every existing call stays valid."""
    tags: list[str] = field(default_factory=list)
    risk: Risk = "low"
    visibility: Visibility = "public"
    moved: bool = False
    itself: bool = True
    lines: LineChange | None = None
    nested: list["Change"] = field(default_factory=list)

    @property
    def is_broken(self) -> bool:
        """Whether it or a nested change is breaking."""
        return self.breaking or any(change.is_broken for change in self.nested)

    def every(self) -> Iterator["Change"]:
        """Yield every change below that is not only of members."""
        if self.itself:
            yield self
        for change in self.nested:
            yield from change.every()

    @property
    def is_module(self) -> bool:
        """Whether it is a renamed or moved module."""
        return self.pair.new_place < 0 and self.pair.old_place < 0

    @property
    def path(self) -> str:
        """The file it is or was in."""
        outline = self.pair.new or self.pair.old
        assert outline is not None
        return outline.path


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutlines:
    """A file in two states."""

    old: Outline | None
    new: Outline | None


_FIRST: Mapping[Kind, int] = {
    "signature_changed": 0,
    "removed": 1,
    "renamed": 2,
    "moved": 2,
    "body_changed": 3,
    "added": 4,
}
_LAST = 5
Order = tuple[bool, bool, int, str, int]


def order(change: Change) -> Order:
    """The sort key: breaking changes first and tests last, then by kind and place, bodies alone after all else."""
    line = 0 if change.is_module else change.pair.now.line
    is_body_alone = all(each.change == "body_changed" for each in change.every())
    rank = _LAST if is_body_alone else _FIRST[change.change]
    return (not change.is_broken, is_test(change.path), rank, change.path, line)
