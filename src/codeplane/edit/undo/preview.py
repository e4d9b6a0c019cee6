"""Previews of an undo or redo: what moves, and the diff of its files."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codeplane.edit.history.mutation_record import FileVersions, MutationRecord, Reversal
from codeplane.edit.undo.show import file_change
from codeplane.git.read.hidden_paths import HiddenPaths
from codeplane.index.files.paths import path_text
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.operation import Preview
from codeplane.kernel.plural import plural
from codeplane.kernel.secret_paths import SecretRules

# The mutation that the approved call must undo, whatever happened in the session since.
MUTATION = "mutation_id"
_MAX_FILES = 100
_MAX_DIFFS = 48_000


class UndoPreview:
    """Preview an undo or redo from the mutation record."""

    def __init__(self, *, root: Path, reversals: Mapping[str, Reversal], secrets: SecretRules) -> None:
        self._root = root
        self._secrets = secrets
        self._reversals = reversals

    async def preview(self, record: MutationRecord) -> Preview:
        """Preview the undo of an applied mutation, or the redo of an undone one."""
        reversal = self._reversals.get(record.kind)
        is_undo = record.state == "applied"
        versions = await reversal.file_versions(record, record.paths[:_MAX_FILES]) if reversal is not None else []
        if is_undo:
            versions = [_swap(file) for file in versions]
        files = await asyncio.to_thread(lambda: [*self._files(versions)])
        head = f"{record.mutation_id} of {rfc3339(record.at_ns)[:19]}, {plural(len(record.paths), 'file')}"
        more = [f"and {plural(len(record.paths) - _MAX_FILES, 'more file')}"] if len(record.paths) > _MAX_FILES else []
        others = reversal.other_changes(record) if reversal is not None else ()
        return Preview(
            summary=f"{'Undo' if is_undo else 'Redo'} {path_text(record.what)}",
            body="\n".join([head, *others, *files, *more]),
            pins={MUTATION: record.mutation_id},
        )

    def _files(self, versions: Sequence[FileVersions]) -> Iterator[str]:
        hidden_paths, room = HiddenPaths(self._root, self._secrets), _MAX_DIFFS
        for version in versions:
            hidden = any(hidden_paths.covers(path) for path in (version.path, version.old_path) if path)
            file = file_change(version, hidden=hidden, room=room)
            room -= len(file.diff)
            yield file.text()


def _swap(file: FileVersions) -> FileVersions:
    return FileVersions(
        path=file.old_path or file.path,
        old_path=file.path if file.old_path else None,
        before=file.after,
        after=file.before,
        was_there=file.is_there,
        is_there=file.was_there,
        note=file.note,
    )
