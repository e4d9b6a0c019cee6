"""What a batch of changes amounts to, worked out from the contents on both sides."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codeplane.edit.beneath import beside, linked_to, looked_at, opened
from codeplane.edit.delta import Delta, DiffStats, FileDelta, Position, TextEdit, TextRange
from codeplane.edit.entry import Change
from codeplane.edit.entry import digest as sha256_of
from codeplane.edit.history.told import Told
from codeplane.edit.hunks import Hunk, hunks, lines_of
from codeplane.edit.syntax import Texts
from codeplane.edit.text import Text
from codeplane.index.files.paths import shown
from codeplane.kernel.call import Effects
from codeplane.kernel.errors import NotText
from codeplane.kernel.ids import digest

MAX_FILES = 200
_MAX_COMPARED = 4 * 1024 * 1024
_MAX_EDITS, _MAX_EDITS_IN_ALL = 20, 100
_MAX_NEW_TEXT = 1000
_SHORT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """The delta without its id, and the texts it comes from."""

    files: tuple[FileDelta, ...]
    texts: Texts

    def with_moves(self, git_moved: Mapping[str, bool]) -> "Described":
        """The same, with whether git's index moved along; of a path that is not named it has no entry."""
        moved = {shown(path): done for path, done in git_moved.items()}
        files = [
            file.model_copy(update={"git_mv": moved.get(file.path)}) if file.action == "moved" else file
            for file in self.files
        ]
        return Described(files=tuple(files), texts=self.texts)

    def delta(self, mutation_id: str) -> Delta:
        """As the answer carries it."""
        return Delta(
            mutation_id=mutation_id,
            files_changed=len(self.files),
            insertions=sum(file.diff_stats.insertions for file in self.files),
            deletions=sum(file.diff_stats.deletions for file in self.files),
            files=self.files[:MAX_FILES],
        )

    def told(self, actor: str) -> Told:
        """As the mutation is kept with."""
        return Told(
            actor=actor,
            insertions=sum(file.diff_stats.insertions for file in self.files),
            deletions=sum(file.diff_stats.deletions for file in self.files),
        )

    def effects(self, symbols: Sequence[str] = ()) -> Effects:
        """As fingerprints are made of it."""
        names = [f"{file.path}:{file.new_hash or ''}" for file in self.files]
        return Effects(
            changed_paths=tuple(path for file in self.files for path in (file.old_path, file.path) if path),
            files_changed_hash=digest("\n".join(sorted(names)).encode()),
            insertions=sum(file.diff_stats.insertions for file in self.files),
            deletions=sum(file.diff_stats.deletions for file in self.files),
            short_diff=tuple(file.text() for file in self.files[:_SHORT]),
            symbol_changes=tuple(symbols),
        )


def described(root: Path, changes: Sequence[Change]) -> Described:
    """Look at both sides of every change; blocks, and has to happen before the files change."""
    before = {change.path: content_of(root, root / change.path) for change in changes if change.before is not None}
    after = {change.path: _after(root, change) for change in changes if change.content is not None}
    return compared(changes, before, after)


def compared(
    changes: Sequence[Change], before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]
) -> Described:
    """The same of contents that are known."""
    moved = {change.moved_from for change in changes if change.moved_from is not None}
    edits_left = _MAX_EDITS_IN_ALL
    files = []
    for change in changes:
        if change.path in moved and change.content is None:
            continue
        old_path = change.moved_from
        old = before.get(old_path or change.path)
        found = _file(change, old, after.get(change.path), edits_left)
        edits_left -= len(found.edits)
        files.append(found)
    # What moved is compared with itself.
    came = {change.moved_from: change.path for change in changes if change.moved_from is not None}
    return Described(
        files=tuple(sorted(files, key=lambda file: file.path)),
        texts=Texts(
            before={came.get(path, path): content for path, content in before.items() if content is not None},
            after={path: content for path, content in after.items() if content is not None},
        ),
    )


def _file(change: Change, old: bytes | None, new: bytes | None, edits_left: int) -> FileDelta:
    was, now = _text(old, change.path), _text(new, change.path)
    lines = lines_of(now.raw) if now else []
    differing = hunks(lines_of(was.raw if was else ""), lines)
    if (old is not None and was is None) or (new is not None and now is None):
        differing = []
    kept = differing[: min(_MAX_EDITS, edits_left)]
    action = "moved" if change.moved_from else "deleted" if change.content is None else "updated"
    if change.before is None and not change.moved_from:
        action = "created"
    text = now or was
    return FileDelta.model_validate(
        {
            "path": shown(change.path),
            "action": action,
            "old_path": shown(change.moved_from) if change.moved_from else None,
            "old_hash": change.before or (sha256_of(old) if old is not None and change.moved_from else None),
            "new_hash": sha256_of(new) if new is not None else None,
            "line_ending": text.line_ending if text is not None else None,
            "diff_stats": DiffStats(
                insertions=sum(hunk.insertions for hunk in differing),
                deletions=sum(hunk.deletions for hunk in differing),
            ),
            "edits": tuple(_edit(hunk, lines) for hunk in kept) if change.before is not None or was else (),
        }
    )


def _edit(hunk: Hunk, lines: Sequence[str]) -> TextEdit:
    new = "".join(lines[hunk.new_start : hunk.new_end])
    return TextEdit(
        range=TextRange(
            start=Position(line=hunk.start + 1, char=0),
            end=Position(line=hunk.end + 1, char=0),
        ),
        new_text=new[:_MAX_NEW_TEXT],
        cut=len(new) > _MAX_NEW_TEXT,
    )


def _text(content: bytes | None, path: str) -> Text | None:
    if content is None:
        return None
    try:
        return Text.of(content, path)
    except NotText:
        return None


def _after(root: Path, change: Change) -> bytes | None:
    if isinstance(change.content, Path):
        return content_of(root, change.content)
    return change.content


def content_of(root: Path, path: Path) -> bytes | None:
    """A file's bytes, or a link's target; None when it is gone or too large to be compared."""
    above = root if root in path.parents else path.parent
    try:
        with beside(above, path.relative_to(above).as_posix()) as (folder, name):
            found = looked_at(folder, name)
            if stat.S_ISLNK(found.st_mode):
                return os.fsencode(linked_to(folder, name))
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_COMPARED:
                return None
            with os.fdopen(opened(folder, name), "rb") as file:
                content = file.read(_MAX_COMPARED + 1)
            return content if len(content) <= _MAX_COMPARED else None
    except OSError:
        return None
