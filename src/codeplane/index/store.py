"""The index's database: where each file's text lies in the content, and the epochs."""

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from codeplane.index.derived_database import DerivedDatabase
from codeplane.index.files.file import Stamp
from codeplane.index.snapshot import IndexedFile

SCHEMA_VERSION = 3
_SCHEMA = (
    """CREATE TABLE files(
        path BLOB PRIMARY KEY, size INTEGER, mtime_ns INTEGER, inode INTEGER, mode INTEGER, changed_after_ns INTEGER,
        digest BLOB, offset INTEGER, length INTEGER, tracked INTEGER, skipped TEXT) WITHOUT ROWID""",
    """CREATE TABLE epochs(
        epoch_id INTEGER PRIMARY KEY, at_ns INTEGER, commit_sha TEXT, generation INTEGER, content_length INTEGER,
        sorted_until INTEGER)""",
)
_KEPT_EPOCHS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Epoch:
    """The commit point of an update."""

    epoch_id: int
    at_ns: int
    commit_sha: str | None
    generation: int
    content_length: int
    sorted_until: int


class IndexStore:
    """SQLite with the files and epochs of one workspace, recreated when damaged."""

    def __init__(self, path: Path) -> None:
        self._database = DerivedDatabase(path, version=SCHEMA_VERSION, schema=_SCHEMA)

    @property
    def remade(self) -> str | None:
        """Why the file was recreated, if it was."""
        return self._database.remade

    @property
    def _connection(self) -> sqlite3.Connection:
        return self._database.connection

    def newest_epoch(self) -> Epoch | None:
        """The current epoch."""
        row = self._connection.execute("SELECT * FROM epochs ORDER BY epoch_id DESC LIMIT 1").fetchone()
        if row is None:
            return None
        epoch_id, at_ns, commit_sha, generation, content_length, sorted_until = row
        return Epoch(
            epoch_id=epoch_id,
            at_ns=at_ns,
            commit_sha=commit_sha,
            generation=generation,
            content_length=content_length,
            sorted_until=sorted_until,
        )

    def files(self) -> dict[str, IndexedFile]:
        """All files of the current epoch, ordered by path."""
        files: dict[str, IndexedFile] = {}
        for (
            path,
            size,
            mtime_ns,
            inode,
            mode,
            changed_after_ns,
            digest,
            offset,
            length,
            tracked,
            skipped,
        ) in self._connection.execute("SELECT * FROM files ORDER BY path"):
            name = os.fsdecode(path)
            files[name] = IndexedFile(
                path=name,
                stamp=Stamp(size, mtime_ns, inode, mode, mtime_ns + changed_after_ns),
                digest=digest.hex(),
                offset=offset,
                length=length,
                tracked=bool(tracked),
                skipped=skipped,
            )
        return files

    def publish(
        self, epoch: Epoch, *, changed: Iterable[IndexedFile], removed: Iterable[str], whole: bool = False
    ) -> None:
        """Write an update and its epoch in one transaction; `whole` replaces all files."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            if whole:
                connection.execute("DELETE FROM files")
            connection.executemany("DELETE FROM files WHERE path = ?", ((os.fsencode(path),) for path in removed))
            connection.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, changed)
            )
            connection.execute(
                "INSERT INTO epochs VALUES (?, ?, ?, ?, ?, ?)",
                (
                    epoch.epoch_id,
                    epoch.at_ns,
                    epoch.commit_sha,
                    epoch.generation,
                    epoch.content_length,
                    epoch.sorted_until,
                ),
            )
            connection.execute("DELETE FROM epochs WHERE epoch_id <= ?", (epoch.epoch_id - _KEPT_EPOCHS,))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def touch(self, known: Iterable[IndexedFile]) -> None:
        """Store new stamps of unchanged files, without a new epoch."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, known)
        )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def remake(self, why: str) -> None:
        """Delete everything and start over; all of it is derived."""
        self._database.remake(why)


def _row(known: IndexedFile) -> tuple[object, ...]:
    stamp = known.stamp
    return (
        os.fsencode(known.path),
        stamp.size,
        stamp.mtime_ns,
        stamp.inode,
        stamp.mode,
        # The two are close together, which makes a small number of it.
        stamp.ctime_ns - stamp.mtime_ns,
        bytes.fromhex(known.digest),
        known.offset,
        known.length,
        known.tracked,
        known.skipped,
    )
