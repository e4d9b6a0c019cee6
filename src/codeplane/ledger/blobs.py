"""A blob store by hash, bounded in total; the oldest blobs are dropped first."""

import sqlite3
from typing import Protocol

from codeplane.kernel.errors import LedgerCorrupt
from codeplane.kernel.ids import digest

# A nonce and a tag: no sealed bytes are shorter.
_SEAL_BYTES = 28
_INSERT = "INSERT OR IGNORE INTO blobs(hash, at_ns, size, data) VALUES (?, ?, ?, ?)"


class Seal(Protocol):
    """Makes bytes unreadable for others, and readable again."""

    def seal(self, data: bytes, label: str) -> bytes:
        """The bytes, sealed."""
        ...

    def open(self, sealed: bytes, label: str) -> bytes:
        """The bytes that were sealed; LedgerCorrupt when they were changed."""
        ...


def unsealed(data: bytes, key: str, seal: Seal | None) -> bytes | None:
    """The bytes of that hash in what is stored; None when it was changed or sealed with a key that is gone.

    Earlier versions stored them as they are.
    """
    if digest(data) == key:
        return data
    if seal is None:
        return None
    try:
        return seal.open(data, key)
    except LedgerCorrupt:
        return None


def may_be_whole(data: bytes, key: str) -> bool:
    """Whether stored bytes are those of the hash, or may be them sealed, which shows when they are opened."""
    return digest(data) == key or len(data) >= _SEAL_BYTES


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
