"""A blob store by hash, bounded in total; the oldest blobs are dropped first."""

import sqlite3


def store(connection: sqlite3.Connection, key: str, data: bytes, *, at_ns: int, limit: int) -> bool:
    """Store the bytes unless they are too large; drops the oldest blobs to stay under the limit."""
    if len(data) * 4 > limit:
        return False
    # The total is stored: summing all sizes would cost each call more than the one before.
    (total,) = connection.execute("SELECT blob_bytes FROM log_state").fetchone()
    total += len(data) - _drop(connection, "hash = ?", key)
    connection.execute("INSERT INTO blobs(hash, at_ns, size, data) VALUES (?, ?, ?, ?)", (key, at_ns, len(data), data))
    while total > limit:
        total -= _drop(connection, "rowid = (SELECT min(rowid) FROM blobs) AND ?", 1)
    connection.execute("UPDATE log_state SET blob_bytes = ?", (total,))
    return True


def load(connection: sqlite3.Connection, key: str) -> bytes | None:
    """The bytes with that hash, or None."""
    row = connection.execute("SELECT data FROM blobs WHERE hash = ?", (key,)).fetchone()
    return bytes(row[0]) if row else None


def _drop(connection: sqlite3.Connection, where: str, value: str | int) -> int:
    row = connection.execute(f"DELETE FROM blobs WHERE {where} RETURNING size", (value,)).fetchone()
    return int(row[0]) if row else 0
