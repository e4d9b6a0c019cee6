"""SQLite files of derived data: thrown away and begun anew when they do not fit, with the reason."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path


class DerivedDatabase:
    """A database that holds nothing that cannot be made again."""

    def __init__(self, path: Path, *, version: int, schema: Sequence[str]) -> None:
        self._path = path
        self._version = version
        self._schema = schema
        self.remade: str | None = None
        try:
            self.connection = self.connect()
            (found,) = self.connection.execute("PRAGMA user_version").fetchone()
            (sound,) = self.connection.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok":
                raise sqlite3.DatabaseError(sound)
        except sqlite3.DatabaseError as error:
            self.remake(str(error))
            return
        if found not in (0, version):
            self.remake(f"schema {found} is not {version}")
        elif found == 0:
            self._create()

    def connect(self) -> sqlite3.Connection:
        """One more connection to the file."""
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        # Derived data: after a power cut an older state is fine, and the next pass brings it up to date.
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def remake(self, why: str) -> None:
        """Throw everything away and begin anew."""
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
