"""One file of a journaled batch: what it was, what it shall be, and where both are kept meanwhile."""

import hashlib
import os
import stat
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import cast

from codeplane.edit.beneath import GONE, beneath, beside, linked_to, looked_at, opened
from codeplane.kernel.json import JsonObject, JsonValue

_LEAST, _CHUNK = 4096, 1024 * 1024
# The keys of a manifest, and the fields here that they hold: a field may be renamed, its key may not.
_WAS_FIELDS = {"sha256": "sha256", "mode": "mode", "link": "link"}
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
class Was:
    """A path at one moment: the SHA-256 of its bytes, or of a link's target."""

    sha256: str
    mode: int
    link: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What shall become of one file; `content` is bytes, a file to take them from, or None to delete it.

    `before` is the SHA-256 it was planned from, None when nothing was there. A link's content is its target. Without
    `mode` it stays as it was, or is what the system gives new files.
    """

    path: str
    content: bytes | Path | None
    before: str | None
    link: bool = False
    mode: int | None = None
    executable: bool | None = None
    moved_from: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file in the manifest; `staged` and `image` are names in the journal's folder, `temp` is beside the target."""

    path: str
    before: Was | None
    after: Was | None
    staged: str
    image: str
    temp: str
    moved_from: str | None = None
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Everything the manifest knows of a batch: `made` folders come, `dropped` ones go when they are empty."""

    entries: tuple[Entry, ...]
    made: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    more: JsonObject = field(default_factory=dict)

    def to_json(self) -> JsonObject:
        """As the details of a kept mutation."""
        entries: list[JsonValue] = [_row(entry) for entry in self.entries]
        return {**self.more, "entries": entries, "made": list(self.made), "dropped": list(self.dropped)}

    @classmethod
    def of(cls, details: JsonObject) -> "Batch":
        """From the details of a kept mutation; ValueError when they are not of that kind."""
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
        """Paths that are folders before or after, and then stand for no file."""
        return frozenset((*self.made, *self.dropped))

    @cached_property
    def twins(self) -> frozenset[str]:
        """Paths that differ from another one only by case: some disks take them for the same."""
        seen: dict[str, list[str]] = {}
        for entry in self.entries:
            seen.setdefault(entry.path.casefold(), []).append(entry.path)
        return frozenset(path for paths in seen.values() if len(paths) > 1 for path in paths)


def state_of(root: Path, path: str, *, folders: Collection[str] = (), exact: bool = False) -> Was | None:
    """What is at a path now, None when nothing is; what is neither file nor link is like nothing that was planned.

    An OSError of ELOOP when a link stands on the way, or things are swapped while they are looked at.
    """
    try:
        if exact and not is_spelled(root, path):
            return None
        with beside(root, path) as (folder, name):
            return state_at(folder, name, is_dropped=path in folders)
    except OSError as error:
        if error.errno in GONE:
            return None
        raise


def state_at(folder: int, name: str, *, is_dropped: bool = False) -> Was | None:
    """The same in a folder that is open already; one that shall be dropped is like nothing."""
    try:
        found = state_in(folder, name)
    except OSError as error:
        if error.errno in GONE:
            return None
        raise
    return None if is_dropped and stat.S_ISDIR(found.mode) else found


def state_in(folder: int, name: str) -> Was:
    """What is at a name in a folder now; raises when nothing is."""
    return was_of(looked_at(folder, name), folder, name)


def was_of(found: os.stat_result, folder: int, name: str) -> Was:
    """The same of a name that was looked at already."""
    if stat.S_ISLNK(found.st_mode):
        return Was(sha256=digest(os.fsencode(linked_to(folder, name))), mode=0, link=True)
    if stat.S_ISREG(found.st_mode):
        return Was(sha256=_file_digest(folder, name, found.st_size), mode=stat.S_IMODE(found.st_mode))
    return Was(sha256="", mode=found.st_mode)


def digest(content: bytes) -> str:
    """The SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def _file_digest(folder: int, name: str, size: int) -> str:
    descriptor = opened(folder, name)
    try:
        found = hashlib.sha256()
        # One byte more than is expected: a file that gives less has come to its end.
        at_once = min(max(size + 1, _LEAST), _CHUNK)
        while True:
            chunk = os.read(descriptor, at_once)
            found.update(chunk)
            if len(chunk) < at_once:
                return found.hexdigest()
    finally:
        os.close(descriptor)


def is_spelled(root: Path, path: str) -> bool:
    """Whether every part of a path is written so on the disk, which may not tell upper from lower case."""
    folder = ""
    for part in path.split("/"):
        with beneath(root, folder) as descriptor:
            if part not in os.listdir(descriptor):  # noqa: PTH208
                return False
        folder = f"{folder}/{part}" if folder else part
    return True


def _row(entry: Entry) -> JsonObject:
    row: JsonObject = {key: getattr(entry, field) for key, field in _ENTRY_FIELDS.items()}
    return row | {"before": _was_row(entry.before), "after": _was_row(entry.after)}


def _was_row(one: Was | None) -> JsonObject | None:
    return {key: getattr(one, field) for key, field in _WAS_FIELDS.items()} if one is not None else None


def _entry(row: dict[str, object]) -> Entry:
    values = {_ENTRY_FIELDS[key]: _was(value) if isinstance(value, dict) else value for key, value in row.items()}
    return Entry(**values)  # type: ignore[arg-type]  # written by `to_json`; anything else is a KeyError or TypeError


def _was(row: dict[str, object]) -> Was:
    return Was(**{_WAS_FIELDS[key]: value for key, value in row.items()})  # type: ignore[arg-type]  # likewise
