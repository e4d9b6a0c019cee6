"""Tables that are a pure function of the log, kept in step with it and rebuilt from it."""

import sqlite3
from collections.abc import Sequence
from typing import ClassVar, Protocol

from codeplane.kernel.errors import CodePlaneError, Internal
from codeplane.kernel.event import Event
from codeplane.ledger import snapshots
from codeplane.ledger.database import last_position
from codeplane.ledger.rows import COLUMNS, Cell, from_row

RETENTION_APPLIED = "retention.applied"
_PAGE = 2000


class Tables(Protocol):
    """What a projection may do: run statements on its own tables."""

    def execute(self, statement: str, parameters: Sequence[Cell] = ..., /) -> sqlite3.Cursor: ...


class Projection(Protocol):
    """Events into tables; nothing but the events decides what the tables hold."""

    name: ClassVar[str]
    version: ClassVar[int]
    schema: ClassVar[tuple[str, ...]]
    tables: ClassVar[tuple[str, ...]]
    types: ClassVar[frozenset[str]]

    def apply(self, tables: Tables, event: Event) -> None:
        """Take one event in; called once an event, in the order of the log."""
        ...


class Projector:
    """Applies events to every projection that wants them."""

    def __init__(self, projections: Sequence[Projection]) -> None:
        self.projections = tuple(projections)
        self._wanted: dict[str, list[Projection]] = {}
        for projection in projections:
            for kind in projection.types:
                self._wanted.setdefault(kind, []).append(projection)

    def apply(self, connection: sqlite3.Connection, events: Sequence[Event]) -> None:
        """Take in freshly appended events, inside their own transaction; what was taken in before changes nothing."""
        (reached,) = connection.execute("SELECT max(position) FROM projections").fetchone()
        fresh = [event for event in events if event.position > (reached or 0)]
        for event in fresh:
            for projection in self._wanted.get(event.type, ()):
                projection.apply(connection, event)
        if fresh:
            connection.execute("UPDATE projections SET position = ?", (fresh[-1].position,))

    def catch_up(self, connection: sqlite3.Connection) -> list[str]:
        """Bring every projection to the log's end at the start; names those that were rebuilt."""
        last = last_position(connection)
        rebuilt: list[str] = []
        for projection in self.projections:
            row = connection.execute(
                "SELECT version, position FROM projections WHERE name = ?", (projection.name,)
            ).fetchone()
            if row is None or row[0] != projection.version or row[1] != last or not _intact(connection, projection):
                connection.execute("BEGIN IMMEDIATE")
                try:
                    rebuild(connection, projection)
                except (CodePlaneError, sqlite3.DatabaseError):
                    raise
                except Exception as error:
                    raise Internal(f"the table {projection.name} cannot be rebuilt: {error}") from error
                connection.execute("COMMIT")
                if row is not None:
                    rebuilt.append(projection.name)
        return rebuilt


def _intact(connection: sqlite3.Connection, projection: Projection) -> bool:
    marks = ", ".join("?" * len(projection.tables))
    statement = f"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ({marks})"
    (found,) = connection.execute(statement, projection.tables).fetchone()
    return bool(found == len(projection.tables))


def rebuild(connection: sqlite3.Connection, projection: Projection) -> int:
    """Make the tables anew from the newest snapshot and the events after it; returns the position reached."""
    for table in projection.tables:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in projection.schema:
        connection.execute(statement)
    position = snapshots.restore(connection, projection.name, projection.version)
    replay(connection, connection, projection, after=position)
    last = last_position(connection)
    connection.execute(
        "INSERT OR REPLACE INTO projections(name, version, position) VALUES (?, ?, ?)",
        (projection.name, projection.version, last),
    )
    return last


def replay(source: sqlite3.Connection, target: sqlite3.Connection, projection: Projection, *, after: int) -> None:
    """Apply the events after a position that the projection wants, page by page."""
    kinds = tuple(sorted(projection.types))
    marks = ", ".join("?" * len(kinds))
    # Most types of a projection are common: each page is read from where the last one ended, and none is sorted.
    statement = (
        f"SELECT {COLUMNS} FROM events NOT INDEXED WHERE position > ? AND type IN ({marks}) ORDER BY position LIMIT ?"
    )
    while True:
        rows = source.execute(statement, (after, *kinds, _PAGE)).fetchall()
        for row in rows:
            event = from_row(row)
            projection.apply(target, event)
            after = event.position
        if len(rows) < _PAGE:
            return


def differences(connection: sqlite3.Connection, projection: Projection) -> list[str]:
    """The tables whose live rows are not those a rebuild gives; empty when all is well."""
    scratch = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in projection.schema:
            scratch.execute(statement)
        position = snapshots.restore(connection, projection.name, projection.version, into=scratch)
        replay(connection, scratch, projection, after=position)
        return [table for table in projection.tables if _content(connection, table) != _content(scratch, table)]
    finally:
        scratch.close()


def _content(connection: sqlite3.Connection, table: str) -> list[tuple[Cell, ...]]:
    return sorted(connection.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
