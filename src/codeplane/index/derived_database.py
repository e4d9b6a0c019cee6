"""SQLite files of derived data, recreated when damaged or of another version."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path


class DerivedDatabase:
    """A database of data that can be derived again; `remade` says why it was recreated."""

    def __init__(self, path: Path, *, version: int, schema: Sequence[str]) -> None:
        self._path = path
        self._version = version
        self._schema = schema
        self.remade: str | None = None
        try:
            self.connection = self.connect()
            (version_found,) = self.connection.execute("PRAGMA user_version").fetchone()
            (sound,) = self.connection.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok":
                raise sqlite3.DatabaseError(sound)
        except sqlite3.DatabaseError as error:
            self.remake(str(error))
            return
        if version_found not in (0, version):
            self.remake(f"schema {version_found} is not {version}")
        elif version_found == 0:
            self._create()

    def connect(self) -> sqlite3.Connection:
        """Open another connection to the file."""
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        # Derived data: after a power cut an older state is fine, and the next pass brings it up to date.
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def remake(self, why: str) -> None:
        """Delete everything and start over."""
        self.remade = why
        if hasattr(self, "connection"):
            self.connection.close()
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self.connection = self.connect()
        self._create()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def _create(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        for statement in self._schema:
            self.connection.execute(statement)
        self.connection.execute(f"PRAGMA user_version={self._version}")
        self.connection.execute("COMMIT")
