"""The delta of a mutation: everything it changed, so that no caller has to look afterwards."""

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Literal

from pydantic import Field

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


class FileDelta(Result):
    """One file before and after; hashes are SHA-256 of the bytes on disk."""

    path: str
    action: Literal["created", "updated", "deleted", "moved"]
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


# By shown path, the lines (from 1) that a refactoring changed because of what the code means.
SemanticLines = Mapping[str, frozenset[int]]


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

    def with_labels(self, symbols: Mapping[str, Sequence[str | None]], semantic: SemanticLines) -> "Delta":
        """Return a copy with the symbol around each edit, and whether the edit is semantic."""
        files = tuple(
            file.model_copy(
                update={
                    "edits": tuple(
                        TextEdit(
                            range=edit.range,
                            new_text=edit.new_text,
                            cut=edit.cut,
                            semantic=_is_semantic(file, edit, semantic),
                            symbol=symbol,
                        )
                        for edit, symbol in zip(
                            file.edits, chain(symbols.get(file.path, ()), repeat(None)), strict=False
                        )
                    )
                }
            )
            for file in self.files
        )
        return self.model_copy(update={"files": files})


def _is_semantic(file: FileDelta, edit: TextEdit, semantic: SemanticLines) -> bool:
    lines = semantic.get(file.old_path or file.path, frozenset())
    return bool(lines) and any(
        line in lines for line in range(edit.range.start.line, max(edit.range.end.line, edit.range.start.line + 1))
    )
