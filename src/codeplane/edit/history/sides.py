"""A file of a kept mutation on both sides of it: as it was before, as the mutation left it."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from codeplane.edit.beneath import GONE
from codeplane.edit.entry import Batch, Entry, Was, digest, state_of
from codeplane.edit.history.kept import Kept, Sides
from codeplane.edit.history.mutations import KeptMutations

MAX_SIDE = 2 * 1024 * 1024
_LATER = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSides:
    """Where both sides of file mutations are found: the journal keeps what was replaced, the disk or a later mutation
    has what replaced it."""

    root: Path
    kept: KeptMutations

    def of(self, kept: Kept, paths: Iterable[str]) -> list[Sides]:
        """Both sides of some files of a mutation; blocks."""
        try:
            batch = Batch.of(kept.details)
        except ValueError:
            return [Sides(path=path, note="it was kept in a form that is no longer known") for path in paths]
        entries = {entry.path: entry for entry in batch.entries if not entry.skipped}
        moved = {entry.moved_from: entry.path for entry in entries.values() if entry.moved_from is not None}
        folder = self.kept.folder_of(kept.mutation_id)
        found: list[Sides] = []
        for path in paths:
            entry = entries.get(path)
            if entry is None:
                found.append(Sides(path=path, note="it was left as it is"))
            elif kept.state == "applied" and path in moved and entry.after is None:
                continue  # told of where it went
            elif kept.state == "undone" and entry.moved_from is not None:
                continue  # the same, the other way round
            else:
                found.append(self._sides(kept, folder, entry, entries, moved))
        return found

    def _sides(
        self, kept: Kept, folder: Path, entry: Entry, entries: dict[str, Entry], moved: Mapping[str, str]
    ) -> Sides:
        """An undone mutation is kept the other way round: its image is what the mutation had made."""
        if kept.state == "applied":
            source = entries.get(entry.moved_from or "")
            came_from = source if source is not None else entry
            before, lost = _image(folder, came_from)
            after, note = self._left(kept, entry)
            return Sides(
                path=entry.path,
                old_path=entry.moved_from,
                before=before,
                after=after,
                was_there=came_from.before is not None,
                is_there=entry.after is not None,
                note=lost or note,
            )
        after, lost = _image(folder, entry)
        source = entries.get(moved.get(entry.path, ""))
        came_from = source if source is not None else entry
        before, note = self._left(kept, came_from)
        return Sides(
            path=entry.path,
            old_path=source.path if source is not None else None,
            before=before,
            after=after,
            was_there=came_from.after is not None,
            is_there=entry.before is not None,
            note=lost or note,
        )

    def _left(self, kept: Kept, entry: Entry) -> tuple[bytes | None, str]:
        """What was put in place: still there, or kept by a mutation that replaced it."""
        wanted = entry.after
        if wanted is None:
            return None, ""
        try:
            found = state_of(self.root, entry.path)
            if found is not None and (found.sha256, found.link) == (wanted.sha256, wanted.link):
                return _read(self.root / entry.path, wanted)
        except OSError as error:
            if error.errno not in GONE:
                return None, f"it cannot be read: {error.strerror}"
        for other in self.kept.all(limit=_LATER):
            if other.mutation_id == kept.mutation_id or entry.path not in other.paths or other.kind != "files":
                continue
            try:
                images = Batch.of(other.details).entries
            except ValueError:
                continue
            for image in images:
                if image.path == entry.path and image.before is not None and image.before.sha256 == wanted.sha256:
                    return _image(self.kept.folder_of(other.mutation_id), image)
        return None, "it was changed since by other means, so this side is not kept any more"


def _image(folder: Path, entry: Entry) -> tuple[bytes | None, str]:
    if entry.before is None:
        return None, ""
    return _read(folder / entry.image, entry.before)


def _read(place: Path, was: Was) -> tuple[bytes | None, str]:
    try:
        if not was.link and place.stat().st_size > MAX_SIDE:
            return None, f"it is larger than {MAX_SIDE // 1024 // 1024} MB, which is too much to show"
        content = os.fsencode(place.readlink()) if was.link else place.read_bytes()
    except OSError as error:
        return None, f"it is not kept any more: {error.strerror}"
    return (content, "") if digest(content) == was.sha256 else (None, "what was kept of it is damaged")
