"""The changes of an index update, and the record of the last comparison with the disk."""

from dataclasses import dataclass

from codeplane.index.files.file import text_digest
from codeplane.index.snapshot import IndexedFile, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The files changed by an update."""

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    # `Snapshot.state` after it, where that was found from what changed alone.
    state: int | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """Everything that changed."""
        return (*self.changed, *self.removed)

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileRecord:
    """The last comparison of the index with the disk: kind (`walk`, `files` or `rebuild`), time and duration."""

    kind: str
    at_ns: int
    spent_ns: int


def find_renames(snapshot: Snapshot, removed: list[str], changed: list[IndexedFile]) -> tuple[tuple[str, str], ...]:
    """Pair removed and added files of the same content as renames."""
    gone: dict[str, list[str]] = {}
    for path in removed:
        known = snapshot.files.get(path)
        if known is not None and known.digest:
            gone.setdefault(text_digest(known.digest), []).append(path)
    pairs = []
    for file in changed:
        if file.path not in snapshot.files and (before := gone.get(text_digest(file.digest))):
            pairs.append((before.pop(0), file.path))
    return tuple(pairs)
