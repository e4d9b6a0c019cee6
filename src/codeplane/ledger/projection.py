"""Projections: tables that are a pure function of the log, updated with it and rebuilt from it."""

import sqlite3
from collections.abc import Sequence
from typing import ClassVar, Protocol

from codeplane.kernel.errors import CodePlaneError, Internal
from codeplane.kernel.event import Event
from codeplane.ledger import snapshots
from codeplane.ledger.database import last_position
from codeplane.ledger.merged_inserts import MergedInserts
from codeplane.ledger.rows import COLUMNS, Cell, from_row

RETENTION_APPLIED = "retention.applied"
_PAGE = 2000


class Tables(Protocol):
    """What a projection may use: statements on its own tables."""

    def execute(self, statement: str, parameters: Sequence[Cell] = ..., /) -> sqlite3.Cursor: ...


class Projection(Protocol):
    """Turns events into tables; only the events determine their content."""

    name: ClassVar[str]
    version: ClassVar[int]
    schema: ClassVar[tuple[str, ...]]
    tables: ClassVar[tuple[str, ...]]
    types: ClassVar[frozenset[str]]

    def apply(self, tables: Tables, event: Event) -> None:
        """Apply one event; called once for each event, in the order of the log."""
        ...


class Projector:
    """Applies events to every projection that wants them."""

    def __init__(self, projections: Sequence[Projection]) -> None:
        self.projections = tuple(projections)
        self._position: int | None = None
        self._wanted: dict[str, list[Projection]] = {}
        for projection in projections:
            for kind in projection.types:
                self._wanted.setdefault(kind, []).append(projection)

    def apply(self, connection: sqlite3.Connection, events: Sequence[Event]) -> None:
        """Apply newly appended events in their own transaction; events that were applied before change nothing.

        Each projection gets all of its events before the next one has any: what it adds can then share statements.
        """
        if self._position is None:
            (applied,) = connection.execute("SELECT max(position) FROM projections").fetchone()
            self._position = applied or 0
        new_events = [event for event in events if event.position > (self._position or 0)]
        wanted: dict[int, tuple[Projection, list[Event]]] = {}
        for event in new_events:
            for projection in self._wanted.get(event.type, ()):
                wanted.setdefault(id(projection), (projection, []))[1].append(event)
        for projection, own_events in wanted.values():
            tables = MergedInserts(connection)
            for event in own_events:
                projection.apply(tables, event)
            tables.flush()
        if new_events:
            self._position = new_events[-1].position
            connection.execute("UPDATE projections SET position = ?", (self._position,))

    def forget_position(self) -> None:
        """Ask the tables again how far they are, after a transaction was rolled back."""
        self._position = None

    def catch_up(self, connection: sqlite3.Connection) -> list[str]:
        """Bring every projection up to date at the start; returns the names of those that were rebuilt."""
        last = last_position(connection)
        stale: list[Projection] = []
        rebuilt: list[str] = []
        for projection in self.projections:
            row = connection.execute(
                "SELECT version, position FROM projections WHERE name = ?", (projection.name,)
            ).fetchone()
            if row is None or row[0] != projection.version or row[1] != last or not _has_tables(connection, projection):
                stale.append(projection)
                if row is not None:
                    rebuilt.append(projection.name)
        # Tables of a log without events are made at once: a transaction each would wait for the disk each time.
        for together in [[projection] for projection in stale] if last else [stale]:
            connection.execute("BEGIN IMMEDIATE")
            for projection in together:
                try:
                    rebuild(connection, projection)
                except (CodePlaneError, sqlite3.DatabaseError):
                    raise
                except Exception as error:
                    raise Internal(f"the table {projection.name} cannot be rebuilt: {error}") from error
            connection.execute("COMMIT")
        return rebuilt


def _has_tables(connection: sqlite3.Connection, projection: Projection) -> bool:
    marks = ", ".join("?" * len(projection.tables))
    statement = f"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ({marks})"
    (count,) = connection.execute(statement, projection.tables).fetchone()
    return bool(count == len(projection.tables))


def rebuild(connection: sqlite3.Connection, projection: Projection) -> int:
    """Rebuild the tables from the newest snapshot and the events after it; returns the position reached."""
    for table in projection.tables:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in projection.schema:
        connection.execute(statement)
    last = last_position(connection)
    if last:
        position = snapshots.restore(connection, projection.name, projection.version)
        replay(connection, connection, projection, after=position)
    connection.execute(
        "INSERT OR REPLACE INTO projections(name, version, position) VALUES (?, ?, ?)",
        (projection.name, projection.version, last),
    )
    return last


def replay(source: sqlite3.Connection, target: sqlite3.Connection, projection: Projection, *, after: int) -> None:
    """Apply the events after a position that the projection wants, page by page."""
    kinds = tuple(sorted(projection.types))
    marks = ", ".join("?" * len(kinds))
    # Most types of a projection are common: a scan from where the last page ended needs no sorting.
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
    """The tables whose rows differ from a rebuild."""
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
