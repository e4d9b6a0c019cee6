"""The table of contents beside the rows: which rows belong to which content."""

import json
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from codeplane.kernel.errors import StorageFailed
from codeplane.vectors import spans

SCHEMA_VERSION = 3
_SCHEMA = (
    # By number and not by digest: the caller holds all entries anyway, and entries in order fill their pages.
    """CREATE TABLE vectors(
        number INTEGER PRIMARY KEY, digest, first_row INTEGER, rows INTEGER, spans BLOB, sum INTEGER)""",
    "CREATE TABLE state(model TEXT, dimensions INTEGER, generation INTEGER, rows INTEGER)",
)


class Entry(NamedTuple):
    """The rows of a content, and a checksum of its chunks and rows; numbers are never reused."""

    number: int
    first: int
    rows: int
    sum: int


def checksum(chunks: bytes, rows: bytes | memoryview) -> int:
    """The checksum of a content's chunks and rows."""
    return zlib.crc32(rows, zlib.crc32(chunks))


class VectorTable:
    """SQLite with an entry per content; rows without an entry are ignored."""

    def __init__(self, path: Path, *, model: str, dimensions: int) -> None:
        self._path, self._model, self._dimensions = path, model, dimensions
        self._lock = threading.Lock()
        self.remade: str | None = None
        try:
            self._connection = self._open()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._create()
                return
            why = f"schema {version} is not {SCHEMA_VERSION}" if version != SCHEMA_VERSION else self._other_model()
        except (sqlite3.DatabaseError, ValueError) as error:  # ValueError: text in it that is no text
            why = str(error)
        if why:
            self.remake(why)

    def state(self) -> tuple[int, int]:
        """The current generation and its number of committed rows."""
        row = self._connection.execute("SELECT generation, rows FROM state").fetchone()
        if row is None:
            raise ValueError("the table has no state")
        generation, rows = row
        if not isinstance(generation, int) or not isinstance(rows, int) or min(generation, rows) < 0:
            raise ValueError("the state of the table is no state")
        return generation, rows

    def entries(self) -> dict[str, Entry]:
        """All entries by digest, ordered by row."""
        _, rows = self.state()
        entries: dict[str, Entry] = {}
        (sound,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if sound != "ok":
            raise ValueError(f"the table is damaged: {sound}")
        for number, raw_digest, first, count, size, total in self._connection.execute(
            "SELECT number, digest, first_row, rows, length(spans), sum FROM vectors ORDER BY first_row, number"
        ):
            digest = raw_digest.hex() if isinstance(raw_digest, bytes) else str(raw_digest)
            numbers = isinstance(first, int) and isinstance(count, int) and isinstance(total, int)
            if not numbers or not 0 <= first <= first + count <= rows or not spans.may_be(size or 0, count):
                raise ValueError(f"the entry of {digest} does not fit the rows")
            entries[digest] = Entry(number=number, first=first, rows=count, sum=total)
        return entries

    def find_damaged(self, entries: Mapping[str, Entry], rows: memoryview, size: int) -> list[str]:
        """Digests whose chunks or rows do not match their checksum."""
        spans_by_number = dict(self._connection.execute("SELECT number, spans FROM vectors"))
        return [
            digest
            for digest, entry in entries.items()
            if checksum(
                bytes(spans_by_number[entry.number]), rows[entry.first * size : (entry.first + entry.rows) * size]
            )
            != entry.sum
        ]

    def drop(self, numbers: Iterable[int]) -> None:
        """Delete some contents."""
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("DELETE FROM vectors WHERE number = ?", ((number,) for number in numbers))

    def spans_of(self, numbers: Iterable[int]) -> dict[int, bytes]:
        """The packed chunks of some contents, in one query."""
        statement = "SELECT number, spans FROM vectors WHERE number IN (SELECT value FROM json_each(?))"
        try:
            with self._lock:
                return dict(self._connection.execute(statement, (json.dumps(list(numbers)),)).fetchall())
        except sqlite3.DatabaseError as error:
            raise StorageFailed(f"the vectors' table cannot be read: {error}", hint="cpl down && cpl up") from error

    def add(self, entries: Mapping[str, tuple[Entry, bytes]], *, rows: int) -> None:
        """Insert entries for rows that are on the disk."""
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (entry.number, _stored_digest(digest), entry.first, entry.rows, packed, entry.sum)
                    for digest, (entry, packed) in entries.items()
                ),
            )
            self._connection.execute("UPDATE state SET rows = ?", (rows,))

    def replace(self, entries: Iterable[Entry], *, generation: int, rows: int) -> None:
        """Keep only these entries and point them to a new file."""
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            firsts = {entry.number: entry.first for entry in entries}
            known = [number for (number,) in self._connection.execute("SELECT number FROM vectors")]
            self._connection.executemany(
                "DELETE FROM vectors WHERE number = ?", ((number,) for number in known if number not in firsts)
            )
            self._connection.executemany(
                "UPDATE vectors SET first_row = ? WHERE number = ?",
                ((first, number) for number, first in firsts.items()),
            )
            self._connection.execute("UPDATE state SET generation = ?, rows = ?", (generation, rows))

    def copy_to(self, path: Path, *, generation: int) -> None:
        """Copy the table for rows in another generation's file."""
        with self._lock:
            self._connection.execute("VACUUM INTO ?", (str(path),))
        with closing(sqlite3.connect(path)) as copy, copy:
            copy.execute("UPDATE state SET generation = ?", (generation,))

    def remake(self, why: str) -> None:
        """Delete everything and start over; all of it is derived."""
        self.remade = why
        if hasattr(self, "_connection"):
            self._connection.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._connection = self._open()
        self._create()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _other_model(self) -> str | None:
        row = self._connection.execute("SELECT model, dimensions FROM state").fetchone()
        if row is None or tuple(row) == (self._model, self._dimensions):
            return "the table has no state" if row is None else None
        return f"made by {row[0]} with {row[1]} dimensions, not by {self._model} with {self._dimensions}"

    def _create(self) -> None:
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                self._connection.execute(statement)
            self._connection.execute("INSERT INTO state VALUES (?, ?, 1, 0)", (self._model, self._dimensions))
            self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        # Derived data: after a power cut an older state is fine, and what is missing is made again.
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection


def _stored_digest(digest: str) -> bytes | str:
    """A digest as bytes if it is hexadecimal, else unchanged."""
    try:
        raw = bytes.fromhex(digest)
    except ValueError:
        return digest
    return raw if raw.hex() == digest else digest
