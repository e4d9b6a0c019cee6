"""The delta of a batch of changes, computed from the contents before and after."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.edit.batch import Change
from codeplane.edit.delta import Delta, DiffStats, FileDelta
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
from codeplane.kernel.json import JsonObject

MAX_FILES = 200
_MAX_COMPARED = 4 * 1024 * 1024
_MAX_EDITS, _MAX_EDITS_IN_ALL = 20, 100
_MAX_NEW_TEXT = 1000
_SHORT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchDelta:
    """The files of a delta, and the texts that it was computed from."""

    files: tuple[FileDelta, ...]
    texts: Texts

    def with_moves(self, git_moved: Mapping[str, bool]) -> "BatchDelta":
        """Return a copy that says whether git's index moved each file; paths not named are untracked."""
        moved = {path_text(path): done for path, done in git_moved.items()}
        files = [
            file.model_copy(update={"git_mv": moved.get(file.path)}) if file.action == "moved" else file
            for file in self.files
        ]
        return BatchDelta(files=tuple(files), texts=self.texts)

    def delta(self, mutation_id: str) -> Delta:
        """Return the delta for a result."""
        return Delta(
            mutation_id=mutation_id,
            files_changed=len(self.files),
            insertions=sum(file.diff_stats.insertions for file in self.files),
            deletions=sum(file.diff_stats.deletions for file in self.files),
            files=self.files[:MAX_FILES],
        )

    def stats(self, actor: str) -> MutationStats:
        """Return the statistics for the mutation record."""
        return MutationStats(
            actor=actor,
            insertions=sum(file.diff_stats.insertions for file in self.files),
            deletions=sum(file.diff_stats.deletions for file in self.files),
        )

    def effects(self, symbols: Sequence[str] = ()) -> Effects:
        """Return the effects for the call record."""
        names = [f"{file.path}:{file.new_hash or ''}" for file in self.files]
        return Effects(
            changed_paths=tuple(path for file in self.files for path in (file.old_path, file.path) if path),
            files_changed_hash=digest("\n".join(sorted(names)).encode()),
            insertions=sum(file.diff_stats.insertions for file in self.files),
            deletions=sum(file.diff_stats.deletions for file in self.files),
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
    files = []
    for change in changes:
        if change.path in moved and change.content is None:
            continue
        old_path = change.moved_from
        old = before.get(old_path or change.path)
        file = _file_delta(change, old, after.get(change.path), edits_left)
        edits_left -= len(file.edits)
        files.append(file)
    # A moved file is compared under its new path.
    new_paths = {change.moved_from: change.path for change in changes if change.moved_from is not None}
    return BatchDelta(
        files=tuple(sorted(files, key=lambda file: file.path)),
        texts=Texts(
            before={new_paths.get(path, path): content for path, content in before.items() if content is not None},
            after={path: content for path, content in after.items() if content is not None},
        ),
    )


def _file_delta(change: Change, old: bytes | None, new: bytes | None, edits_left: int) -> FileDelta:
    old_text, new_text = _decode(old, change.path), _decode(new, change.path)
    lines = split_lines(new_text.raw) if new_text else []
    hunks = diff_lines(split_lines(old_text.raw if old_text else ""), lines)
    if (old is not None and old_text is None) or (new is not None and new_text is None):
        hunks = []
    listed = hunks[: min(_MAX_EDITS, edits_left)]
    action = "moved" if change.moved_from else "deleted" if change.content is None else "updated"
    if change.before is None and not change.moved_from:
        action = "created"
    text = new_text or old_text
    # Of plain values: the validator makes the models of all edits in one go.
    return FileDelta.model_validate(
        {
            "path": path_text(change.path),
            "action": action,
            "old_path": path_text(change.moved_from) if change.moved_from else None,
            "old_hash": change.before or (sha256_of(old) if old is not None and change.moved_from else None),
            "new_hash": sha256_of(new) if new is not None else None,
            "line_ending": text.line_ending if text is not None else None,
            "diff_stats": DiffStats(
                insertions=sum(hunk.insertions for hunk in hunks),
                deletions=sum(hunk.deletions for hunk in hunks),
            ),
            "edits": [_edit(hunk, lines) for hunk in listed] if change.before is not None or old_text else (),
        }
    )


def _edit(hunk: Hunk, lines: Sequence[str]) -> JsonObject:
    new = "".join(lines[hunk.new_start : hunk.new_end])
    return {
        "range": {"start": {"line": hunk.start + 1, "char": 0}, "end": {"line": hunk.end + 1, "char": 0}},
        "new_text": new[:_MAX_NEW_TEXT],
        "cut": len(new) > _MAX_NEW_TEXT,
    }


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
