"""Batches of file changes, and how the journal's manifest stores them."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import cast

from codeplane.edit.file_state import FileState
from codeplane.kernel.json import JsonObject, JsonValue

# The keys of a manifest, and the fields here that they hold: a field may be renamed, its key may not.
_STATE_FIELDS = {"sha256": "sha256", "mode": "mode", "link": "link"}
_ENTRY_FIELDS = {
    "path": "path",
    "before": "before",
    "after": "after",
    "staged": "staged",
    "image": "image",
    "temp": "temp",
    "moved_from": "moved_from",
    "skipped": "skipped",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of one file; `content` is its bytes, a file to read them from, or None to delete it.

    `before` is the SHA-256 of the file when the change was planned, None when there was none; `old` are its bytes then,
    where they are few. The content of a link is its target. Without `mode` the mode stays as it was, or is the system's
    default for new files.
    """

    path: str
    content: bytes | Path | None
    before: str | None
    link: bool = False
    mode: int | None = None
    executable: bool | None = None
    moved_from: str | None = None
    old: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file in the manifest; `staged` and `image` are names in the journal folder, `temp` is next to the target."""

    path: str
    before: FileState | None
    after: FileState | None
    staged: str
    image: str
    temp: str
    moved_from: str | None = None
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A whole batch; `made` folders are created, `dropped` ones removed when they are empty."""

    entries: tuple[Entry, ...]
    made: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    more: JsonObject = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """Return the batch as details of a mutation record."""
        entries: list[JsonValue] = [_row(entry) for entry in self.entries]
        return {**self.more, "entries": entries, "made": list(self.made), "dropped": list(self.dropped)}

    @classmethod
    def of(cls, details: JsonObject) -> "Batch":
        """Read a batch from the details of a mutation record; ValueError when they hold none."""
        try:
            rows = cast(list[dict[str, object]], details["entries"])
            return cls(
                entries=tuple(_entry(row) for row in rows),
                made=tuple(cast(list[str], details["made"])),
                dropped=tuple(cast(list[str], details["dropped"])),
                more={key: value for key, value in details.items() if key not in ("entries", "made", "dropped")},
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a batch of files: {error}") from error

    @cached_property
    def folders(self) -> frozenset[str]:
        """Paths that are folders before or after the batch."""
        return frozenset((*self.made, *self.dropped))

    @cached_property
    def twins(self) -> frozenset[str]:
        """Paths that differ from another path only by case, which some disks treat as the same."""
        seen: dict[str, list[str]] = {}
        for entry in self.entries:
            seen.setdefault(entry.path.casefold(), []).append(entry.path)
        return frozenset(path for paths in seen.values() if len(paths) > 1 for path in paths)


def _row(entry: Entry) -> JsonObject:
    row: JsonObject = {key: getattr(entry, field) for key, field in _ENTRY_FIELDS.items()}
    return row | {"before": _state_row(entry.before), "after": _state_row(entry.after)}


def _state_row(state: FileState | None) -> JsonObject | None:
    return {key: getattr(state, field) for key, field in _STATE_FIELDS.items()} if state is not None else None


def _entry(row: dict[str, object]) -> Entry:
    values = {_ENTRY_FIELDS[key]: _state(value) if isinstance(value, dict) else value for key, value in row.items()}
    return Entry(**values)  # type: ignore[arg-type]  # written by `to_json`; anything else is a KeyError or TypeError


def _state(row: dict[str, object]) -> FileState:
    return FileState(**{_STATE_FIELDS[key]: value for key, value in row.items()})  # type: ignore[arg-type]  # likewise
