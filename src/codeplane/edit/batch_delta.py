"""The delta of a batch of changes, computed from the contents before and after."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.edit.batch import Change
from codeplane.edit.delta import Delta, DiffStats, EditedLines, FileAction, FileDelta, SemanticLines, SymbolsAround
from codeplane.edit.file_state import sha256_of
from codeplane.edit.folder_descriptors import open_parent, read_bytes, read_link, stat_entry
from codeplane.edit.history.mutation_record import MutationStats
from codeplane.edit.line_diff import Hunk, diff_lines, split_lines
from codeplane.edit.syntax_diff import Texts
from codeplane.edit.text import Text
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Effects
from codeplane.kernel.errors import NotText
from codeplane.kernel.ids import digest

MAX_FILES = 200
_MAX_COMPARED = 4 * 1024 * 1024
_MAX_EDITS, _MAX_EDITS_IN_ALL = 20, 100
_MAX_NEW_TEXT = 1000
_SHORT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDelta:
    """The files of a delta, and the texts that it was computed from."""

    # Without their edits, which are made with the delta.
    files: tuple[FileDelta, ...]
    # Of each file, in the same order.
    edits: tuple[tuple[EditedLines, ...], ...]
    texts: Texts

    def with_moves(self, git_moved: Mapping[str, bool]) -> "BatchDelta":
        """Return a copy that says whether git's index moved each file; paths not named are untracked."""
        moved = {path_text(path): done for path, done in git_moved.items()}
        files = [
            file.model_copy(update={"git_mv": moved.get(file.path)}) if file.action == "moved" else file
            for file in self.files
        ]
        return replace(self, files=tuple(files))

    @property
    def insertions(self) -> int:
        """The number of added lines."""
        return sum(file.diff_stats.insertions for file in self.files)

    @property
    def deletions(self) -> int:
        """The number of removed lines."""
        return sum(file.diff_stats.deletions for file in self.files)

    def delta(
        self, mutation_id: str, *, symbols: SymbolsAround | None = None, semantic: SemanticLines | None = None
    ) -> Delta:
        """Return the delta for a result, with the symbol around each edit and whether the edit is semantic."""
        shown = zip(self.files[:MAX_FILES], self.edits, strict=False)
        return Delta(
            mutation_id=mutation_id,
            files_changed=len(self.files),
            insertions=self.insertions,
            deletions=self.deletions,
            files=tuple(file.with_edits(edits, symbols or {}, semantic or {}) for file, edits in shown),
        )

    def stats(self, actor: str) -> MutationStats:
        """Return the statistics for the mutation record."""
        return MutationStats(
            actor=actor,
            insertions=self.insertions,
            deletions=self.deletions,
        )

    def effects(self, symbols: Sequence[str] = ()) -> Effects:
        """Return the effects for the call record."""
        names = [f"{file.path}:{file.new_hash or ''}" for file in self.files]
        return Effects(
            changed_paths=tuple(path for file in self.files for path in (file.old_path, file.path) if path),
            files_changed_hash=digest("\n".join(sorted(names)).encode()),
            insertions=self.insertions,
            deletions=self.deletions,
            short_diff=tuple(file.text() for file in self.files[:_SHORT]),
            symbol_changes=tuple(symbols),
        )


def batch_delta(root: Path, changes: Sequence[Change]) -> BatchDelta:
    """Compute the delta of changes before they are made; blocks."""
    before = {change.path: _old_content(root, change) for change in changes if change.before is not None}
    after = {change.path: _new_content(root, change) for change in changes if change.content is not None}
    return compare_contents(changes, before, after)


def compare_contents(
    changes: Sequence[Change], before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]
) -> BatchDelta:
    """Compute the delta of changes whose contents are known."""
    moved = {change.moved_from for change in changes if change.moved_from is not None}
    edits_left = _MAX_EDITS_IN_ALL
    compared: list[tuple[FileDelta, tuple[EditedLines, ...]]] = []
    hunks: dict[str, Sequence[Hunk]] = {}
    for change in changes:
        if change.path in moved and change.content is None:
            continue
        old_path = change.moved_from
        old, new = before.get(old_path or change.path), after.get(change.path)
        old_text, new_text = _decode(old, change.path), _decode(new, change.path)
        lines = split_lines(new_text.raw) if new_text else []
        found = diff_lines(split_lines(old_text.raw if old_text else ""), lines)
        if _is_plain(old, old_text) and _is_plain(new, new_text):
            hunks[change.path] = found
        if (old is not None and old_text is None) or (new is not None and new_text is None):
            found = []
        listed = found[: min(_MAX_EDITS, edits_left)] if change.before is not None or old_text else []
        edits_left -= len(listed)
        file = _file_delta(change, old, new, new_text or old_text, found)
        compared.append((file, tuple([_edited_lines(hunk, lines) for hunk in listed])))
    compared.sort(key=lambda pair: pair[0].path)
    # A moved file is compared under its new path.
    new_paths = {change.moved_from: change.path for change in changes if change.moved_from is not None}
    return BatchDelta(
        files=tuple([file for file, _ in compared]),
        edits=tuple([edits for _, edits in compared]),
        texts=Texts(
            before={new_paths.get(path, path): content for path, content in before.items() if content is not None},
            after={path: content for path, content in after.items() if content is not None},
            hunks=hunks,
        ),
    )


def _is_plain(content: bytes | None, text: Text | None) -> bool:
    """Whether the lines of a text differ where those of its bytes do."""
    return content is None or (text is not None and text.encoding == "utf-8")


def _file_delta(
    change: Change, old: bytes | None, new: bytes | None, text: Text | None, hunks: Sequence[Hunk]
) -> FileDelta:
    action: FileAction = "moved" if change.moved_from else "deleted" if change.content is None else "updated"
    if change.before is None and not change.moved_from:
        action = "created"
    return FileDelta(
        path=path_text(change.path),
        action=action,
        old_path=path_text(change.moved_from) if change.moved_from else None,
        old_hash=change.before or (sha256_of(old) if old is not None and change.moved_from else None),
        new_hash=sha256_of(new) if new is not None else None,
        line_ending=text.line_ending if text is not None else None,
        diff_stats=DiffStats(
            insertions=sum([hunk.insertions for hunk in hunks]), deletions=sum([hunk.deletions for hunk in hunks])
        ),
    )


def _edited_lines(hunk: Hunk, lines: Sequence[str]) -> EditedLines:
    new = "".join(lines[hunk.new_start : hunk.new_end])
    return EditedLines(
        first=hunk.start + 1, last=hunk.end + 1, new_text=new[:_MAX_NEW_TEXT], cut=len(new) > _MAX_NEW_TEXT
    )


def _decode(content: bytes | None, path: str) -> Text | None:
    if content is None:
        return None
    try:
        return Text.of(content, path)
    except NotText:
        return None


def _old_content(root: Path, change: Change) -> bytes | None:
    return change.old if change.old is not None else read_content(root, root / change.path)


def _new_content(root: Path, change: Change) -> bytes | None:
    if isinstance(change.content, Path):
        return read_content(root, change.content)
    return change.content


def read_content(root: Path, path: Path) -> bytes | None:
    """Read a file, or the target of a link; None when it is gone or too large to compare."""
    above = root if root in path.parents else path.parent
    try:
        with open_parent(above, path.relative_to(above).as_posix()) as (folder, name):
            status = stat_entry(folder, name)
            if stat.S_ISLNK(status.st_mode):
                return os.fsencode(read_link(folder, name))
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_COMPARED:
                return None
            content = read_bytes(folder, name, size=status.st_size, limit=_MAX_COMPARED)
            return content if len(content) <= _MAX_COMPARED else None
    except OSError:
        return None
