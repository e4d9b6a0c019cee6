"""Taking a batch of files back: what it left is checked, what was before is put there by the same journal."""

from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.edit.entry import Batch, Change, Entry, Was, state_of
from codeplane.edit.history.kept import Kept
from codeplane.edit.refusal import refusal
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import CannotUndo

_NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversed:
    """A batch that goes the other way, and how the mutation is kept afterwards."""

    kept: Kept
    changes: tuple[Change, ...]
    dropped: tuple[str, ...]


def reversed_batch(root: Path, folder: Path, kept: Kept) -> Reversed:
    """The batch that takes a kept one back, or does it again; CannotUndo when things are not as it left them."""
    try:
        batch = Batch.of(kept.details)
    except ValueError as error:
        raise CannotUndo(f"{kept.mutation_id} is not kept whole: {error}") from error
    entries = [entry for entry in batch.entries if not entry.skipped]
    moved_on = [entry.path for entry in entries if _present(root, entry, batch) != entry.after]
    if moved_on:
        more = f" and {len(moved_on) - _NAMED} more" if len(moved_on) > _NAMED else ""
        raise CannotUndo(
            f"changed since {kept.mutation_id}: {', '.join(map(shown, moved_on[:_NAMED]))}{more}",
            details={"paths": [shown(path) for path in moved_on[:100]]},
        )
    damaged = [entry.path for entry in entries if entry.before is not None and not _is_whole(folder, entry)]
    if damaged:
        raise CannotUndo(f"what was kept of {', '.join(map(shown, damaged[:_NAMED]))} is damaged")
    back = {entry.moved_from: entry.path for entry in entries if entry.moved_from is not None}
    return Reversed(
        kept=replace(kept, state="undone" if kept.state == "applied" else "applied", details=batch.more),
        changes=tuple(_reversed(folder, entry, back.get(entry.path)) for entry in entries),
        dropped=batch.made,
    )


def _present(root: Path, entry: Entry, batch: Batch) -> Was | None:
    try:
        return state_of(root, entry.path, folders=batch.folders, exact=entry.path in batch.twins)
    except OSError as error:
        raise refusal(error, entry.path) from error


def _is_whole(folder: Path, entry: Entry) -> bool:
    found = state_of(folder, entry.image)
    return found is not None and entry.before is not None and found.sha256 == entry.before.sha256


def _reversed(folder: Path, entry: Entry, moved_from: str | None) -> Change:
    return Change(
        path=entry.path,
        content=folder / entry.image if entry.before is not None else None,
        before=entry.after.sha256 if entry.after is not None else None,
        link=entry.before is not None and entry.before.link,
        mode=entry.before.mode if entry.before is not None and not entry.before.link else None,
        moved_from=moved_from,
    )
