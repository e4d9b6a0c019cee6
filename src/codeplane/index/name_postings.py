"""Postings of identifiers: the numbers of the files in which each occurs, by a hash of the name, in segments.

A segment is of the files that were written together and never changes. A file that is written again gets a new number,
so what a segment says of its old one is dead: nobody has that number, and merging leaves it out.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import xxhash
from numpy.typing import NDArray

SCHEMA = "CREATE TABLE names(first INTEGER PRIMARY KEY, last INTEGER, size INTEGER, keys BLOB, counts BLOB, files BLOB)"
_BYTES = 5
_MASK = (1 << (8 * _BYTES)) - 1
# Larger ones take too much memory to merge.
_LARGEST = 1_000_000


def key_of(name: str) -> int:
    """The hash of a name; a rare collision only costs a look at more files."""
    return xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogateescape")) & _MASK


def packed_keys(names: Iterable[bytes]) -> bytes:
    """The keys of a file's identifiers."""
    return _narrow(np.fromiter(map(xxhash.xxh3_64_intdigest, names), "<u8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The names in a range of file numbers; a name's files lie between two starts."""

    first: int
    last: int
    keys: NDArray[np.uint64]
    starts: NDArray[np.intp]
    files: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, files: Sequence[tuple[int, bytes]]) -> "Segment":
        """Build a segment of files with ascending numbers and packed keys."""
        key_arrays = [_wide(packed) for _, packed in files]
        numbers = np.array([number for number, _ in files], np.uint32)
        first, last = int(numbers.min()), int(numbers.max())
        return cls._sort(
            first, last, np.concatenate(key_arrays), np.repeat(numbers, [len(keys) for keys in key_arrays])
        )

    @classmethod
    def _sort(cls, first: int, last: int, keys: NDArray[np.uint64], numbers: NDArray[np.uint32]) -> "Segment":
        # The numbers are in their order already, for each of the keys, which leaves these to sort; of two segments that
        # are merged both are sorted, which takes no longer than reading them.
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        new = np.ones(len(keys), np.bool_)
        new[1:] = keys[1:] != keys[:-1]
        starts = np.append(np.flatnonzero(new), len(keys))
        files = (numbers[order] - np.uint32(first)).astype(np.min_scalar_type(last - first))
        return cls(first=first, last=last, keys=keys[new], starts=starts, files=files)

    def merge(self, later: "Segment", living: NDArray[np.uint32]) -> "Segment":
        """Merge with a later segment, without deleted files."""
        keys = np.concatenate([np.repeat(segment.keys, np.diff(segment.starts)) for segment in (self, later)])
        numbers = np.concatenate(
            [segment.files.astype(np.uint32) + np.uint32(segment.first) for segment in (self, later)]
        )
        if len(living) <= later.last - self.first:
            is_living = np.isin(numbers, living)
            keys, numbers = keys[is_living], numbers[is_living]
        return self._sort(self.first, later.last, keys, numbers)

    def files_of(self, keys: NDArray[np.uint64]) -> list[NDArray[np.uint32]]:
        """The files of each key."""
        at = self.keys.searchsorted(keys)
        begins, ends = self.starts[at], self.starts[np.minimum(at + 1, len(self.keys))]
        # A key behind the last one is unlike it as well.
        known = self.keys.take(at, mode="clip") == keys if len(self.keys) else np.zeros(len(keys), np.bool_)
        # Of a dead number and of one that was never given nothing is known alike.
        return [
            self.files[begin : end if there else begin].astype(np.uint32) + np.uint32(self.first)
            for begin, end, there in zip(begins.tolist(), ends.tolist(), known.tolist(), strict=True)
        ]

    def row(self) -> tuple[int, int, int, bytes, bytes, bytes]:
        """The segment as a database row."""
        counts = np.diff(self.starts)
        narrow = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
        return self.first, self.last, len(self.files), _narrow(self.keys), narrow.tobytes(), self.files.tobytes()

    @classmethod
    def from_row(cls, row: tuple[int, int, int, bytes, bytes, bytes]) -> "Segment":
        """Read a segment from a database row."""
        first, last, size, packed, counts, files = row
        keys = _wide(packed)
        counted = np.frombuffer(counts, f"<u{len(counts) // len(keys)}" if len(keys) else "<u1")
        starts = np.append(np.intp(0), np.cumsum(counted, dtype=np.intp))
        return cls(
            first=first,
            last=last,
            keys=keys,
            starts=starts,
            files=np.frombuffer(files, f"<u{len(files) // size}" if size else "<u1"),
        )


def add(connection: sqlite3.Connection, files: Sequence[tuple[int, bytes]]) -> None:
    """Add the names of new files, merging recent segments to keep them few."""
    made = Segment.of(files)
    for first, size in connection.execute("SELECT first, size FROM names ORDER BY first DESC").fetchall():
        if size > 2 * len(made.files) or size + len(made.files) > _LARGEST:
            break
        row = connection.execute("SELECT * FROM names WHERE first = ?", (first,)).fetchone()
        living = connection.execute(
            "SELECT file_id FROM parsed WHERE file_id BETWEEN ? AND ?", (first, made.last)
        ).fetchall()
        made = Segment.from_row(row).merge(made, np.array(living, np.uint32).reshape(-1))
        connection.execute("DELETE FROM names WHERE first = ?", (first,))
    connection.execute("INSERT INTO names VALUES (?, ?, ?, ?, ?, ?)", made.row())


class NamePostings:
    """A reader's cache of the segments; not thread-safe."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, int], Segment] = {}

    def clear(self) -> None:
        """Drop the cached segments."""
        self._held = {}

    def of(self, connection: sqlite3.Connection, names: Sequence[str]) -> list[NDArray[np.uint32]]:
        """The file numbers of each name, including deleted files."""
        wanted = connection.execute("SELECT first, last FROM names ORDER BY first").fetchall()
        held = self._held
        self._held = {place: held.get(place) or _read(connection, place[0]) for place in wanted}
        keys = np.array([key_of(name) for name in names], np.uint64)
        postings = [segment.files_of(keys) for segment in self._held.values()]
        nothing = np.zeros(0, np.uint32)
        return [np.concatenate(parts) for parts in zip(*postings, strict=True)] if postings else [nothing] * len(names)


def _read(connection: sqlite3.Connection, first: int) -> Segment:
    return Segment.from_row(connection.execute("SELECT * FROM names WHERE first = ?", (first,)).fetchone())


def _narrow(keys: NDArray[np.uint64]) -> bytes:
    return keys.view(np.uint8).reshape(-1, 8)[:, :_BYTES].tobytes()


def _wide(packed: bytes) -> NDArray[np.uint64]:
    wide = np.zeros((len(packed) // _BYTES, 8), np.uint8)
    wide[:, :_BYTES] = np.frombuffer(packed, np.uint8).reshape(-1, _BYTES)
    return wide.view("<u8").reshape(-1)
