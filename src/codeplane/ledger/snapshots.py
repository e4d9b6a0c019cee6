"""Copies of a projection's tables at one position of the log, so that older events can be dropped."""

import base64
import json
import sqlite3
import zlib
from collections.abc import Sequence

from codeplane.ledger.rows import Cell

KEPT = 2


def capture(connection: sqlite3.Connection, tables: Sequence[str]) -> bytes:
    """The content of the tables as it is in the connection's current transaction."""
    content = {}
    for table in tables:
        cursor = connection.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        content[table] = {"columns": names, "rows": [[_pack(cell) for cell in row] for row in cursor]}
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 6)


def store(connection: sqlite3.Connection, *, name: str, version: int, position: int, at_ns: int, data: bytes) -> None:
    """Keep a captured snapshot, dropping all but the newest few."""
    connection.execute(
        "INSERT OR REPLACE INTO snapshots(position, projection, version, at_ns, data) VALUES (?, ?, ?, ?, ?)",
        (position, name, version, at_ns, data),
    )
    connection.execute(
        """DELETE FROM snapshots WHERE projection = ?1 AND position NOT IN
           (SELECT position FROM snapshots WHERE projection = ?1 ORDER BY position DESC LIMIT ?2)""",
        (name, KEPT),
    )


def restore(connection: sqlite3.Connection, name: str, version: int, *, into: sqlite3.Connection | None = None) -> int:
    """Fill empty tables from the newest snapshot of this version; returns its position, or 0 without one."""
    row = connection.execute(
        "SELECT position, data FROM snapshots WHERE projection = ? AND version = ? ORDER BY position DESC LIMIT 1",
        (name, version),
    ).fetchone()
    if row is None:
        return 0
    position, data = row
    target = into or connection
    for table, content in json.loads(zlib.decompress(data)).items():
        marks = ", ".join("?" * len(content["columns"]))
        names = ", ".join(content["columns"])
        rows = [[_unpack(cell) for cell in cells] for cells in content["rows"]]
        target.executemany(f"INSERT INTO {table}({names}) VALUES ({marks})", rows)
    return int(position)


def _pack(cell: Cell) -> object:
    return {"b": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell


def _unpack(cell: object) -> object:
    return base64.b64decode(cell["b"]) if isinstance(cell, dict) else cell
