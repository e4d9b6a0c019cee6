"""A damaged ledger: tell, and copy what can still be read into a new one, keeping the old file."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from codeplane.kernel.errors import LedgerCorrupt
from codeplane.ledger.database import open_reader, open_writer, translate
from codeplane.ledger.rows import COLUMNS, INSERT

_PAGE = 500


def examine(path: Path) -> str:
    """What a sound ledger holds; LedgerCorrupt otherwise."""
    connection = open_reader(path)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise LedgerCorrupt(f"{path.name} is damaged: {verdict}")
        (position,) = connection.execute("SELECT last_position FROM log_state").fetchone()
    except sqlite3.Error as error:
        raise translate(error, path) from error
    finally:
        connection.close()
    return f"sound, at position {position}"


def salvage(path: Path) -> str:
    """Move a damaged ledger aside and start a new one with the events that could be read."""
    aside = next(
        name for number in range(1, 10_000) if not (name := path.with_name(f"{path.name}.damaged-{number}")).exists()
    )
    for suffix in ("-wal", "-shm"):
        extra = path.with_name(path.name + suffix)
        if extra.exists():
            extra.rename(aside.with_name(aside.name + suffix))
    path.rename(aside)
    fresh = open_writer(path)
    try:
        kept = _copy(aside, fresh)
    finally:
        fresh.close()
    return f"{kept} events kept; the damaged file is {aside}"


def _copy(damaged: Path, fresh: sqlite3.Connection) -> int:
    kept = 0
    fresh.execute("BEGIN IMMEDIATE")
    for row in _readable(damaged):
        cursor = fresh.execute(INSERT.replace("INSERT", "INSERT OR IGNORE", 1), row)
        kept += cursor.rowcount
    # A stream is only as good as its unbroken end: what comes before a hole counts as dropped.
    fresh.execute(
        """INSERT INTO streams(stream, head, first, last_at_ns)
           SELECT stream, max(sequence), max(sequence), max(at_ns) FROM events GROUP BY stream"""
    )
    fresh.execute(
        """UPDATE streams SET first = coalesce((SELECT max(e.sequence) FROM events e WHERE e.stream = streams.stream
           AND NOT EXISTS (SELECT 1 FROM events p WHERE p.stream = e.stream AND p.sequence = e.sequence - 1)), first)"""
    )
    fresh.execute("DELETE FROM events WHERE sequence < (SELECT first FROM streams s WHERE s.stream = events.stream)")
    fresh.execute("UPDATE log_state SET last_position = coalesce((SELECT max(position) FROM events), 0)")
    fresh.execute("COMMIT")
    return kept


def _readable(damaged: Path) -> Iterator[tuple[object, ...]]:
    """Rows in the order of the log, skipping pages that cannot be read by halving what is asked for."""
    try:
        source = open_reader(damaged)
        (last,) = source.execute("SELECT max(position) FROM events").fetchone()
    except Exception:
        return
    spans = [(start, min(start + _PAGE - 1, last)) for start in range(1, (last or 0) + 1, _PAGE)][::-1]
    while spans:
        low, high = spans.pop()
        try:
            yield from source.execute(
                f"SELECT {COLUMNS} FROM events WHERE position BETWEEN ? AND ? ORDER BY position", (low, high)
            ).fetchall()
        except sqlite3.Error:
            if low < high:
                middle = (low + high) // 2
                spans += [(middle + 1, high), (low, middle)]
    source.close()
