"""One published state of the index; all queries of an answer read the same one."""

import mmap
import os
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import compress
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codeplane.index.change_log import ChangeLog
from codeplane.index.content import ContentMap
from codeplane.index.files.file import Stamp

_DERIVED = frozenset({"texts", "live_bytes", "_sorted_places", "_appended_places", "recent", "state"})
_STATE_BYTES = 16
_STATES = 1 << (8 * _STATE_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedFile:
    """A file in the index; `skipped` says why its text is not stored."""

    path: str
    stamp: Stamp
    digest: str
    offset: int
    length: int
    tracked: bool
    skipped: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Files left out for one reason: their count and the first paths."""

    count: int
    paths: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The files and contents at one epoch; immutable once published."""

    epoch: int
    commit: str | None
    files: Mapping[str, IndexedFile]
    content: "mmap.mmap | bytes"
    content_file: Path
    sorted_until: int
    verified_at_ns: int
    left_out: Mapping[str, LeftOut]
    # How many of the files git ignores: `index.include` names them.
    included: int = 0
    log: ChangeLog | None = None

    @cached_property
    def state(self) -> int:
        """An order-independent hash of all paths, contents and executable bits."""
        return sum(map(_state_of, self.files.values())) % _STATES

    def state_with(self, gone: Iterable[IndexedFile], came: Iterable[IndexedFile]) -> int:
        """The hash after replacing some files by others."""
        return (self.state - sum(map(_state_of, gone)) + sum(map(_state_of, came))) % _STATES

    def changed_since(self, epoch: int) -> frozenset[str] | None:
        """The paths whose content changed, that came or that went since an epoch; None if that is not known."""
        return self.log.between(epoch, self.epoch) if self.log is not None else None

    @cached_property
    def texts(self) -> tuple[IndexedFile, ...]:
        """The files with stored text, ordered by path."""
        return tuple(known for known in self.files.values() if known.skipped is None)

    @cached_property
    def live_bytes(self) -> int:
        """The bytes of all texts; the rest of the content is of versions that are gone."""
        return sum(known.length for known in self.files.values())

    @cached_property
    def _sorted_places(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Where texts of the sorted part begin, with their paths; some of them may be gone by now."""
        return _by_offset(known for known in self.texts if known.offset < self.sorted_until)

    @cached_property
    def _appended_places(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Where the texts behind the sorted part begin, with their paths."""
        return _by_offset(known for known in self.texts if known.offset >= self.sorted_until)

    def follow(self, before: "Snapshot", paths: Iterable[str]) -> None:
        """Derive what is known of an earlier snapshot of the same content and of the paths that changed since."""
        changed = set(paths)
        gone = [before.files[path] for path in changed if path in before.files]
        came = [self.files[path] for path in changed if path in self.files]
        offsets, appended = before._appended_places
        stays = [path not in changed for path in appended]
        new_offsets, new = _by_offset(known for known in came if known.skipped is None)
        self.__dict__.update(
            live_bytes=before.live_bytes - sum(map(_length, gone)) + sum(map(_length, came)),
            _sorted_places=before._sorted_places,
            # What is read anew is appended behind all else.
            _appended_places=(
                np.concatenate([offsets[np.array(stays, np.bool_)], new_offsets]),
                (*compress(appended, stays), *new),
            ),
        )

    def as_verified(
        self, *, commit: str | None, at_ns: int, left_out: Mapping[str, LeftOut], included: int
    ) -> "Snapshot":
        """The same snapshot, verified again; cached properties are kept."""
        snapshot = replace(self, commit=commit, verified_at_ns=at_ns, left_out=left_out, included=included)
        snapshot.__dict__.update({name: value for name, value in self.__dict__.items() if name in _DERIVED})
        return snapshot

    def at(self, position: int) -> IndexedFile | None:
        """The file whose live text is at a position of the content, or None."""
        offsets, paths = self._sorted_places if position < self.sorted_until else self._appended_places
        index = int(np.searchsorted(offsets, position, side="right")) - 1
        known = self.files.get(paths[index]) if index >= 0 else None
        if known is None or known.skipped is not None or known.offset != int(offsets[index]):
            return None
        return known if position < known.offset + known.length else None

    def first_offset(self, path: str) -> int:
        """The offset in the sorted part of the first file at or after a path."""
        offsets, paths = self._sorted_places
        index = bisect_left(paths, os.fsencode(path), key=os.fsencode)
        return int(offsets[index]) if index < len(paths) else self.sorted_until

    def next_offset(self, position: int) -> int:
        """The offset of the next text after a position, which may be of a version that is gone."""
        for offsets, _ in (self._sorted_places, self._appended_places):
            index = int(np.searchsorted(offsets, position, side="right"))
            if index < len(offsets):
                return int(offsets[index])
        return len(self.content)

    @cached_property
    def recent(self) -> tuple[IndexedFile, ...]:
        """Files appended after the sorted part, ordered by path."""
        return tuple(self.files[path] for path in sorted(self._appended_places[1], key=os.fsencode))

    def text(self, known: IndexedFile, *, most: int | None = None) -> bytes:
        """A file's bytes, or the first `most`; IndexNotReady if the content was truncated."""
        length = known.length if most is None else min(known.length, most)
        if isinstance(self.content, ContentMap):
            return self.content.part(known.offset, length)
        return bytes(self.content[known.offset : known.offset + length])

    def count_skipped(self) -> dict[str, int]:
        """The number of unsearched files by reason."""
        counts = {reason: those.count for reason, those in self.left_out.items()}
        for known in self.files.values():
            if known.skipped is not None:
                counts[known.skipped] = counts.get(known.skipped, 0) + 1
        return counts


def _by_offset(files: Iterable[IndexedFile]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    ordered = sorted(files, key=attrgetter("offset"))
    return np.fromiter([known.offset for known in ordered], np.int64), tuple(known.path for known in ordered)


def _length(known: IndexedFile) -> int:
    return known.length


def _state_of(known: IndexedFile) -> int:
    # What is too large, or cannot be read, has no digest: its size and time stand for its content.
    content = known.digest or f"{known.stamp.size} {known.stamp.mtime_ns}"
    text = f"{known.path}\0{content}\0{known.stamp.mode & 0o111:o}"
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogateescape"), digest_size=_STATE_BYTES).digest())
