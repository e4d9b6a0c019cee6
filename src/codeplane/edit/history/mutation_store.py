"""The store of mutations that can be undone: one folder each, with a manifest."""

import json
import os
import re
import shutil
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import get_args

from codeplane.edit.history.mutation_record import Kind, MutationRecord, State
from codeplane.index.files.paths import path_text
from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.short_ids import fits, match_id

MANIFEST = "kept.json"
_DAY_NS = 24 * 3600 * SECOND_NS
_MB = 1024 * 1024
# The largest time that clocks and calendars here can show.
_LAST_NS = 2**63 - 1
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_REMOVED = ".gone-"
_PART = ".part-"
# The keys of a manifest, and the fields here that they hold: a field may be renamed, its key may not.
_FIELDS = {
    "mutation_id": "mutation_id",
    "kind": "kind",
    "what": "what",
    "at_ns": "at_ns",
    "session_id": "session_id",
    "state": "state",
    "paths": "paths",
    "details": "details",
}


class MutationStore:
    """Mutations below one folder; its methods block, are short, and may be called from any thread."""

    def __init__(self, folder: Path, clock: Clock, days: float, max_mb: int) -> None:
        self._folder = folder
        self._clock = clock
        self._days = days
        self._max_mb = max_mb
        self._lock = threading.RLock()
        self._bytes: int | None = None
        # The names in the last listing, oldest first; mutations since then are newer.
        self._oldest: deque[str] = deque()
        # The time of the oldest mutation.
        self._oldest_ns: int | None = None

    def add(self, record: MutationRecord) -> None:
        """Store a mutation that has no folder yet, durably."""
        folder = self.folder_of(record.mutation_id)
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            part = self._folder / f"{_PART}{record.mutation_id}"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            write_manifest(part / MANIFEST, record)
            part.rename(folder)
            sync_folder(self._folder)
            self.count_folder(folder)

    def count_folder(self, folder: Path) -> None:
        """Add the size of a folder that the journal moved here."""
        with self._lock:
            if self._bytes is not None:
                self._bytes += _size(folder)

    def get(self, mutation_id: str) -> MutationRecord | None:
        """Return the mutation, or None when it is not stored (any more)."""
        if not _ID.fullmatch(mutation_id):
            return None
        record = read_manifest(self.folder_of(mutation_id) / MANIFEST)
        return record if record is not None and record.mutation_id == mutation_id else None

    def find(self, mutation_id: str, error: type[CodePlaneError]) -> MutationRecord:
        """Return the mutation with that id, or the only one with that start or end of an id; else raise the error."""
        record = self.get(mutation_id)
        if record is None:
            known = [record.mutation_id for record in self.all() if fits(mutation_id, record.mutation_id)]
            record = self.get(match_id(mutation_id, known, "mutation", error)) if known else None
        if record is None:
            raise error(
                f"{path_text(mutation_id)} is not kept, or not any more: {self.retention}",
                hint="see mutation_list for what is kept",
            )
        return record

    def has(self, mutation_id: str) -> bool:
        """Whether a mutation is stored."""
        return (self.folder_of(mutation_id) / MANIFEST).exists()

    def find_newest(self, *, state: State | None = None, session_id: str | None = None) -> MutationRecord | None:
        """Return the newest mutation in a state and of a session; with "undone", the one undone last."""
        matching = (
            record
            for record in self._newest_first()
            if (state is None or record.state == state) and (session_id is None or record.session_id == session_id)
        )
        return max(matching, key=self._marked_ns, default=None) if state == "undone" else next(matching, None)

    def all(self, *, limit: int | None = None) -> tuple[MutationRecord, ...]:
        """Return all mutations, newest first, up to `limit`."""
        return tuple(islice(self._newest_first(), limit))

    def mark(self, mutation_id: str, state: State) -> None:
        """Set the state of a mutation, durably."""
        with self._lock:
            record = self.get(mutation_id)
            if record is not None and record.state != state:
                write_manifest(self.folder_of(mutation_id) / MANIFEST, replace(record, state=state))

    def folder_of(self, mutation_id: str) -> Path:
        """Return the folder of a mutation, which may hold more files than the manifest."""
        if not _ID.fullmatch(mutation_id):
            raise ValueError(f"{mutation_id!r} is no id of a mutation")
        return self._folder / mutation_id

    def drop(self, mutation_id: str) -> None:
        """Remove a mutation."""
        folder = self.folder_of(mutation_id)
        with self._lock:
            # Nearly always there is none: it is asked before every new one is stored.
            if not os.path.lexists(folder):
                return
            if self._bytes is not None:
                self._bytes -= _size(folder)
            self._remove(folder)

    def prune(self) -> int:
        """Remove mutations that are too old, then the oldest until the rest fits; clear unfinished folders."""
        with self._lock:
            limit, since = self._max_mb * _MB, self._clock.now_ns() - int(self._days * _DAY_NS)
            dropped = 0
            if self._bytes is None:
                dropped = self._clear_unfinished()
                self._bytes = sum(_size(self._folder / name) for name in self._names())
            elif self._bytes <= limit and self._oldest_ns is not None and self._oldest_ns >= since:
                return 0
            self._oldest_ns = None
            while (name := self._oldest_name()) is not None:
                record = self.get(name)
                if record is not None and record.at_ns >= since and self._bytes <= limit:
                    self._oldest_ns = record.at_ns
                    break
                if (self._folder / name).exists():
                    self._bytes -= _size(self._folder / name)
                    self._remove(self._folder / name)
                    dropped += 1
                self._oldest.popleft()
            return dropped

    def _oldest_name(self) -> str | None:
        """Return the oldest name in the listing, which is renewed only when it is used up."""
        if not self._oldest:
            self._oldest.extend(sorted(self._names()))
        return self._oldest[0] if self._oldest else None

    @property
    def retention(self) -> str:
        """The retention in words."""
        return f"{self._days:g} days and {self._max_mb} MB, the oldest go first"

    def _clear_unfinished(self) -> int:
        cleared = 0
        for name in self._entries():
            folder = self._folder / name
            if name.startswith((_REMOVED, _PART)):
                shutil.rmtree(folder, ignore_errors=True)
            elif _ID.fullmatch(name) and read_manifest(folder / MANIFEST) is None:
                self._remove(folder)
                cleared += 1
        return cleared

    def _newest_first(self) -> Iterator[MutationRecord]:
        # Ids sort by time.
        for name in sorted(self._names(), reverse=True):
            if (record := self.get(name)) is not None:
                yield record

    def _marked_ns(self, record: MutationRecord) -> int:
        try:
            return os.lstat(self.folder_of(record.mutation_id) / MANIFEST).st_mtime_ns
        except OSError:
            return 0

    def _names(self) -> list[str]:
        return [name for name in self._entries() if _ID.fullmatch(name)]

    def _entries(self) -> list[str]:
        try:
            return [entry.name for entry in os.scandir(self._folder)]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _remove(self, folder: Path) -> None:
        """Remove a folder, under another name first: a half-removed one must not look like a stored mutation."""
        removed = folder.with_name(f"{_REMOVED}{folder.name}")
        shutil.rmtree(removed, ignore_errors=True)
        with suppress(FileNotFoundError):
            folder.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)


def read_manifest(path: Path) -> MutationRecord | None:
    """Read a manifest; None when it is missing or damaged."""
    try:
        raw = json.loads(path.read_bytes())
        raw["paths"] = tuple(raw["paths"])
        record = MutationRecord(**{_FIELDS[key]: value for key, value in raw.items()})
        return record if _is_sound(record) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _is_sound(record: MutationRecord) -> bool:
    """Whether every field has its type: a foreign manifest must not break the list of all."""
    return (
        record.kind in get_args(Kind)
        and record.state in get_args(State)
        and isinstance(record.at_ns, int)
        and 0 <= record.at_ns <= _LAST_NS
        and isinstance(record.mutation_id, str)
        and isinstance(record.what, str)
        and isinstance(record.session_id, str | None)
        and isinstance(record.details, dict)
        and all(isinstance(path, str) for path in record.paths)
    )


def write_manifest(path: Path, record: MutationRecord) -> None:
    """Replace a manifest atomically and durably."""
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(manifest_bytes(record))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def manifest_bytes(record: MutationRecord) -> bytes:
    """Serialise a manifest."""
    raw = {key: getattr(record, field) for key, field in _FIELDS.items()}
    # Escaped, so that names that are not UTF-8 survive.
    return json.dumps(raw, ensure_ascii=True, separators=(",", ":")).encode()


def sync_folder(folder: Path | str) -> None:
    """Sync the entries of a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _size(folder: Path) -> int:
    with suppress(OSError):
        return sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))
    return 0
