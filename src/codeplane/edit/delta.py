"""The delta of a mutation: everything it changed, so that no caller has to look afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal

from pydantic import Field, TypeAdapter

from codeplane.kernel.operation import Result


class DiffStats(Result):
    """Lines that came and went."""

    insertions: int = 0
    deletions: int = 0


class Position(Result):
    """A place in a text: lines from 1, characters from 0."""

    line: int
    char: int


class TextRange(Result):
    """A stretch of the text as it was before."""

    start: Position
    end: Position


class TextEdit(Result):
    """Lines that others took the place of; `cut` when the new text is longer than what is shown here."""

    range: TextRange
    new_text: str
    cut: bool = False
    semantic: bool = Field(False, description="planned from what the code means, not written or found as text")
    symbol: str | None = Field(None, description="the innermost definition around it, where the file could be parsed")


_EDITS = TypeAdapter(tuple[TextEdit, ...])
FileAction = Literal["created", "updated", "deleted", "moved"]
# By shown path, the innermost definition around each edit of the file, in order.
SymbolsAround = Mapping[str, Sequence[str | None]]
# By shown path, the lines (from 1) that a refactoring changed because of what the code means.
SemanticLines = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedLines:
    """Lines from `first` up to `last`, counted from 1 and without the last one, and the text in their place."""

    first: int
    last: int
    new_text: str
    cut: bool


class FileDelta(Result):
    """One file before and after; hashes are SHA-256 of the bytes on disk."""

    path: str
    action: FileAction
    old_path: str | None = None
    old_hash: str | None = None
    new_hash: str | None = None
    line_ending: Literal["LF", "CRLF"] | None = None
    diff_stats: DiffStats = DiffStats()
    edits: tuple[TextEdit, ...] = Field((), description="at most 20 of a file and 100 in all")
    git_mv: bool | None = Field(None, description="of a moved file: whether git's index moved with it; null: untracked")

    def text(self) -> str:
        # R only when git sees a rename, which needs its index entry moved too.
        moved = "R" if self.git_mv else "mv"
        sign = {"created": "A", "updated": "M", "deleted": "D", "moved": moved}[self.action]
        where = f"{self.old_path} → {self.path}" if self.old_path else self.path
        return f"{sign} {where} +{self.diff_stats.insertions} -{self.diff_stats.deletions}"

    def with_edits(self, edits: Sequence[EditedLines], symbols: SymbolsAround, semantic: SemanticLines) -> "FileDelta":
        """Return a copy with the edits, the symbol around each, and whether it is semantic."""
        if not edits:
            return self
        around = chain(symbols.get(self.path, ()), repeat(None))
        lines = semantic.get(self.old_path or self.path, frozenset())
        # Of plain values: the validator makes the models of all edits in one go.
        values = [
            {
                "range": {"start": {"line": edit.first, "char": 0}, "end": {"line": edit.last, "char": 0}},
                "new_text": edit.new_text,
                "cut": edit.cut,
                "semantic": bool(lines) and not lines.isdisjoint(range(edit.first, max(edit.last, edit.first + 1))),
                "symbol": symbol,
            }
            for edit, symbol in zip(edits, around, strict=False)
        ]
        return self.model_copy(update={"edits": _EDITS.validate_python(values)})


class Delta(Result):
    """The whole effect of one mutation."""

    mutation_id: str
    files_changed: int
    insertions: int = 0
    deletions: int = 0
    files: tuple[FileDelta, ...] = Field((), description="at most 200; files_changed counts all")
    head_before: str | None = Field(None, description="of git: the commit that was checked out")
    head: str | None = Field(None, description="of git: the commit that is checked out now")
    branch: str | None = None
    refs: tuple[str, ...] = Field((), description="of git: what moved beside files, as in `main 91b7e02 → 4f1c2aa`")
