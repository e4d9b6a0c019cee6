"""Reads the files of a mutation as they were before and after it."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codeplane.edit.batch import Batch, Entry
from codeplane.edit.file_state import FileState, sha256_of, state_of
from codeplane.edit.folder_descriptors import MISSING
from codeplane.edit.history.mutation_record import FileVersions, MutationRecord
from codeplane.edit.history.mutation_store import MutationStore

MAX_SIDE = 2 * 1024 * 1024
_LATER = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVersionReader:
    """Read both versions: the mutation's folder has what was replaced, the disk or a later mutation the rest."""

    root: Path
    mutations: MutationStore

    def read(self, record: MutationRecord, paths: Iterable[str]) -> list[FileVersions]:
        """Read both versions of some files of a mutation; blocks."""
        try:
            batch = Batch.of(record.details)
        except ValueError:
            return [FileVersions(path=path, note="it was kept in a form that is no longer known") for path in paths]
        entries = {entry.path: entry for entry in batch.entries if not entry.skipped}
        moved = {entry.moved_from: entry.path for entry in entries.values() if entry.moved_from is not None}
        folder = self.mutations.folder_of(record.mutation_id)
        versions: list[FileVersions] = []
        for path in paths:
            entry = entries.get(path)
            if entry is None:
                versions.append(FileVersions(path=path, note="it was left as it is"))
            elif record.state == "applied" and path in moved and entry.after is None:
                continue  # listed under its new path
            elif record.state == "undone" and entry.moved_from is not None:
                continue  # listed under its old path
            else:
                versions.append(self._versions(record, folder, entry, entries, moved))
        return versions

    def _versions(
        self, record: MutationRecord, folder: Path, entry: Entry, entries: dict[str, Entry], moved: Mapping[str, str]
    ) -> FileVersions:
        """Read both versions of one file; the image of an undone mutation is what the mutation had made."""
        if record.state == "applied":
            source = entries.get(entry.moved_from or "")
            came_from = source if source is not None else entry
            before, lost = _read_image(folder, came_from)
            after, note = self._read_result(record, entry)
            return FileVersions(
                path=entry.path,
                old_path=entry.moved_from,
                before=before,
                after=after,
                was_there=came_from.before is not None,
                is_there=entry.after is not None,
                note=lost or note,
            )
        after, lost = _read_image(folder, entry)
        source = entries.get(moved.get(entry.path, ""))
        came_from = source if source is not None else entry
        before, note = self._read_result(record, came_from)
        return FileVersions(
            path=entry.path,
            old_path=source.path if source is not None else None,
            before=before,
            after=after,
            was_there=came_from.after is not None,
            is_there=entry.before is not None,
            note=lost or note,
        )

    def _read_result(self, record: MutationRecord, entry: Entry) -> tuple[bytes | None, str]:
        """Read what a mutation put in place, from the disk or from the mutation that replaced it."""
        wanted = entry.after
        if wanted is None:
            return None, ""
        try:
            state = state_of(self.root, entry.path)
            if state is not None and (state.sha256, state.link) == (wanted.sha256, wanted.link):
                return _read(self.root / entry.path, wanted)
        except OSError as error:
            if error.errno not in MISSING:
                return None, f"it cannot be read: {error.strerror}"
        for other in self.mutations.all(limit=_LATER):
            if other.mutation_id == record.mutation_id or entry.path not in other.paths or other.kind != "files":
                continue
            try:
                images = Batch.of(other.details).entries
            except ValueError:
                continue
            for image in images:
                if image.path == entry.path and image.before is not None and image.before.sha256 == wanted.sha256:
                    return _read_image(self.mutations.folder_of(other.mutation_id), image)
        return None, "it was changed since by other means, so this side is not kept any more"


def _read_image(folder: Path, entry: Entry) -> tuple[bytes | None, str]:
    if entry.before is None:
        return None, ""
    return _read(folder / entry.image, entry.before)


def _read(place: Path, state: FileState) -> tuple[bytes | None, str]:
    """Read a file or link; without content, the second value says why."""
    try:
        if not state.link and place.stat().st_size > MAX_SIDE:
            return None, f"it is larger than {MAX_SIDE // 1024 // 1024} MB, which is too much to show"
        content = os.fsencode(place.readlink()) if state.link else place.read_bytes()
    except OSError as error:
        return None, f"it is not kept any more: {error.strerror}"
    return (content, "") if sha256_of(content) == state.sha256 else (None, "what was kept of it is damaged")
