"""A blob store by hash, bounded in total; the oldest blobs are dropped first."""

import sqlite3

_INSERT = "INSERT OR IGNORE INTO blobs(hash, at_ns, size, data) VALUES (?, ?, ?, ?)"


def store(connection: sqlite3.Connection, key: str, data: bytes, *, at_ns: int, limit: int) -> bool:
    """Store the bytes unless they are too large; drops the oldest blobs to stay under the limit."""
    if len(data) * 4 > limit:
        return False
    insert, row = (
        "INSERT OR IGNORE INTO blobs(hash, at_ns, size, data) VALUES (?, ?, ?, ?)",
        (key, at_ns, len(data), data),
    )
    is_new = connection.execute(insert, row).rowcount
    if not is_new:
        # The same bytes again: the newest now.
        _drop(connection, "hash = ?", key)
        connection.execute(insert, row)
        return True
    # The total is stored: summing all sizes would cost each call more than the one before.
    total = _count(connection, len(data))
    while total > limit:
        total = _count(connection, -_drop(connection, "rowid = (SELECT min(rowid) FROM blobs) AND ?", 1))
    return True


def load(connection: sqlite3.Connection, key: str) -> bytes | None:
    """The bytes with that hash, or None."""
    row = connection.execute("SELECT data FROM blobs WHERE hash = ?", (key,)).fetchone()
    return bytes(row[0]) if row else None


def _count(connection: sqlite3.Connection, change: int) -> int:
    """Add to the total, and return it."""
    (total,) = connection.execute(
        "UPDATE log_state SET blob_bytes = blob_bytes + ? RETURNING blob_bytes", (change,)
    ).fetchone()
    return int(total)


def _drop(connection: sqlite3.Connection, where: str, value: str | int) -> int:
    row = connection.execute(f"DELETE FROM blobs WHERE {where} RETURNING size", (value,)).fetchone()
    return int(row[0]) if row else 0
