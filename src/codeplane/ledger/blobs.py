"""Bytes by their hash, bounded in total; the oldest go first."""

import sqlite3


def store(connection: sqlite3.Connection, key: str, data: bytes, *, at_ns: int, limit: int) -> bool:
    """Keep the bytes unless they are too large for the store; drops the oldest to stay under the limit."""
    if len(data) * 4 > limit:
        return False
    connection.execute(
        "INSERT OR REPLACE INTO blobs(hash, at_ns, size, data) VALUES (?, ?, ?, ?)", (key, at_ns, len(data), data)
    )
    (total,) = connection.execute("SELECT sum(size) FROM blobs").fetchone()
    while total > limit:
        row = connection.execute("SELECT rowid, size FROM blobs ORDER BY rowid LIMIT 1").fetchone()
        connection.execute("DELETE FROM blobs WHERE rowid = ?", (row[0],))
        total -= row[1]
    return True


def load(connection: sqlite3.Connection, key: str) -> bytes | None:
    """The bytes, or None when they are not here."""
    row = connection.execute("SELECT data FROM blobs WHERE hash = ?", (key,)).fetchone()
    return bytes(row[0]) if row else None
