"""Snapshots: a projection's tables at one position of the log, so that older events can be dropped."""

import base64
import json
import sqlite3
import zlib
from collections.abc import Sequence

from codeplane.ledger.rows import Cell

KEPT = 2
_ROWS = 500


def capture(connection: sqlite3.Connection, tables: Sequence[str]) -> bytes:
    """The content of the tables as it is in the connection's current transaction: compressed lines of JSON."""
    packer = zlib.compressobj(6)
    parts: list[bytes] = []
    for table in tables:
        cursor = connection.execute(f"SELECT * FROM {table}")
        parts.append(packer.compress(_line({"table": table, "columns": [column[0] for column in cursor.description]})))
        # A few rows at a time: encoding a large table at once would block every other thread.
        while rows := cursor.fetchmany(_ROWS):
            parts.append(packer.compress(_line([[_pack(cell) for cell in row] for row in rows])))
    return b"".join([*parts, packer.flush()])


def store(connection: sqlite3.Connection, *, name: str, version: int, position: int, at_ns: int, data: bytes) -> None:
    """Store a snapshot, and drop all but the newest few."""
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
    target, insert = into or connection, ""
    for line in zlib.decompress(data).splitlines():
        content = json.loads(line)
        if isinstance(content, dict):
            columns = content["columns"]
            insert = f"INSERT INTO {content['table']}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        else:
            target.executemany(insert, [[_unpack(cell) for cell in cells] for cells in content])
    return int(position)


def _line(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


def _pack(cell: Cell) -> object:
    return {"b": base64.b64encode(cell).decode()} if isinstance(cell, bytes) else cell


def _unpack(cell: object) -> object:
    return base64.b64decode(cell["b"]) if isinstance(cell, dict) else cell
