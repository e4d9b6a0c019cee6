"""Builds the batch that undoes or redoes a batch of file changes."""

from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.edit.batch import Batch, Change, Entry
from codeplane.edit.disk_error import disk_error
from codeplane.edit.file_state import FileState, state_of
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CannotUndo

_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversedBatch:
    """A batch in the other direction, and the mutation record afterwards."""

    kept: MutationRecord
    changes: tuple[Change, ...]
    dropped: tuple[str, ...]


def reverse_batch(root: Path, folder: Path, record: MutationRecord) -> ReversedBatch:
    """Build the batch that undoes or redoes a mutation; CannotUndo when the files changed since."""
    try:
        batch = Batch.of(record.details)
    except ValueError as error:
        raise CannotUndo(f"{record.mutation_id} is not kept whole: {error}") from error
    entries = [entry for entry in batch.entries if not entry.skipped]
    changed = [entry.path for entry in entries if _present_state(root, entry, batch) != entry.after]
    if changed:
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        raise CannotUndo(
            f"changed since {record.mutation_id}: {', '.join(map(path_text, changed[:_NAMED]))}{more}",
            details={"paths": [path_text(path) for path in changed[:100]]},
        )
    damaged = [entry.path for entry in entries if entry.before is not None and not _is_intact(folder, entry)]
    if damaged:
        raise CannotUndo(f"what was kept of {', '.join(map(path_text, damaged[:_NAMED]))} is damaged")
    new_paths = {entry.moved_from: entry.path for entry in entries if entry.moved_from is not None}
    return ReversedBatch(
        kept=replace(record, state="undone" if record.state == "applied" else "applied", details=batch.more),
        changes=tuple(_reverse(folder, entry, new_paths.get(entry.path)) for entry in entries),
        dropped=batch.made,
    )


def _present_state(root: Path, entry: Entry, batch: Batch) -> FileState | None:
    try:
        return state_of(root, entry.path, folders=batch.folders, exact=entry.path in batch.twins)
    except OSError as error:
        raise disk_error(error, entry.path) from error


def _is_intact(folder: Path, entry: Entry) -> bool:
    state = state_of(folder, entry.image)
    return state is not None and entry.before is not None and state.sha256 == entry.before.sha256


def _reverse(folder: Path, entry: Entry, moved_from: str | None) -> Change:
    return Change(
        path=entry.path,
        content=folder / entry.image if entry.before is not None else None,
        before=entry.after.sha256 if entry.after is not None else None,
        link=entry.before is not None and entry.before.link,
        mode=entry.before.mode if entry.before is not None and not entry.before.link else None,
        moved_from=moved_from,
    )
