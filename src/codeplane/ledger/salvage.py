"""Detects a damaged ledger, and copies what can still be read into a new one, keeping the old file."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from codeplane.kernel.errors import CodePlaneError, LedgerCorrupt
from codeplane.ledger import blobs
from codeplane.ledger.database import last_position, open_reader, open_writer, refuse_newer, translate
from codeplane.ledger.rows import COLUMNS, from_row, insert_statement

_PAGE = 500
_MAX_NUMBER = 2**53
_MAX_FAILURES = 100_000
# Where the root of a table is damaged, every row fails.
_MAX_FAILURES_UNREADABLE = 2000


def examine(path: Path) -> str:
    """Describe a sound ledger; LedgerCorrupt for a damaged one, SchemaTooNew for one of a newer CodePlane."""
    refuse_newer(path)
    connection = open_reader(path)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise LedgerCorrupt(f"{path.name} is damaged: {' '.join(verdict.split())}")
        position = last_position(connection)
    except sqlite3.Error as error:
        raise translate(error, path) from error
    finally:
        connection.close()
    return f"sound, at position {position}"


def salvage(path: Path) -> str:
    """Move a damaged ledger aside and replace it with a new one that holds what could be read."""
    fresh = path.with_name(f"{path.name}.salvaged")
    for leftover in (fresh, *_sidecars(fresh)):
        leftover.unlink(missing_ok=True)
    with closing(open_writer(fresh)) as target:
        count = _copy(path, target)
    aside = next(
        name for number in range(1, 10_000) if not (name := path.with_name(f"{path.name}.damaged-{number}")).exists()
    )
    # The damaged file keeps its name until it is replaced, so that no server starts with an empty ledger in between.
    aside.hardlink_to(path)
    for old, new in zip(_sidecars(path), _sidecars(aside), strict=True):
        if old.exists():
            old.rename(new)
    fresh.replace(path)
    return f"{count} events kept; the damaged file is {aside}"


def _sidecars(path: Path) -> list[Path]:
    """SQLite's files beside the database, which it would take for the new file's."""
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]


def _copy(damaged: Path, fresh: sqlite3.Connection) -> int:
    last = 0
    fresh.execute("BEGIN IMMEDIATE")
    with suppress(CodePlaneError), closing(open_reader(damaged)) as source:
        last = _highest(source)
        _copy_events(source, fresh)
        _copy_snapshots(source, fresh)
        _copy_blobs(source, fresh)
    # Only the end of a stream after its last hole is kept: what comes before counts as dropped.
    fresh.execute(
        """INSERT INTO streams(stream, head, first, last_at_ns, owner)
           SELECT stream, max(sequence), max(sequence), max(at_ns),
                  (SELECT actor FROM events e WHERE e.stream = events.stream ORDER BY sequence LIMIT 1)
           FROM events GROUP BY stream"""
    )
    fresh.execute(
        """UPDATE streams SET first = coalesce((SELECT max(e.sequence) FROM events e WHERE e.stream = streams.stream
           AND NOT EXISTS (SELECT 1 FROM events p WHERE p.stream = e.stream AND p.sequence = e.sequence - 1)), first)"""
    )
    fresh.execute("DELETE FROM events WHERE sequence < (SELECT first FROM streams s WHERE s.stream = events.stream)")
    # Positions are not reused, and a reader from before a hole gets a gap.
    fresh.execute(
        """UPDATE log_state SET last_position = ?1, dropped_position = CASE
           WHEN ?1 > coalesce((SELECT max(position) FROM events), 0) THEN ?1
           ELSE coalesce((SELECT max(e.position) - 1 FROM events e
                WHERE NOT EXISTS (SELECT 1 FROM events p WHERE p.position = e.position - 1)), 0) END""",
        (last,),
    )
    (count,) = fresh.execute("SELECT count(*) FROM events").fetchone()
    fresh.execute("COMMIT")
    return int(count)


def _highest(source: sqlite3.Connection) -> int:
    """The last position of the log, as far as it can be read."""
    positions = [0]
    for statement in ("SELECT last_position FROM log_state", "SELECT max(position) FROM events"):
        with suppress(sqlite3.Error, TypeError, ValueError):
            positions.append(int(source.execute(statement).fetchone()[0]))
    return max(value for value in positions if value < _MAX_NUMBER)


def _copy_events(source: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    for row in readable_rows(source, f"SELECT position, {_columns_of(source)} FROM events", "position"):
        with suppress(LedgerCorrupt):
            from_row(row)
            fresh.execute(insert_statement(1, on_conflict="IGNORE"), row)


def _columns_of(source: sqlite3.Connection) -> str:
    """The columns of an event, empty where the file is of a version that did not have them."""
    present: set[str] = set()
    with suppress(sqlite3.Error):
        present = {str(column[1]) for column in source.execute("PRAGMA table_info(events)")}
    if not present:
        return COLUMNS
    return ", ".join(name if name in present else f"NULL AS {name}" for name in COLUMNS.split(", "))


def _copy_snapshots(source: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    columns = "position, projection, version, at_ns, data"
    for row in readable_rows(source, f"SELECT rowid, {columns} FROM snapshots", "rowid"):
        with suppress(zlib.error, TypeError):
            zlib.decompress(row[-1])  # type: ignore[arg-type]  # what is not bytes is damage, and is skipped
            fresh.execute(f"INSERT OR IGNORE INTO snapshots({columns}) VALUES (?, ?, ?, ?, ?)", row)


def _copy_blobs(source: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    for key, at_ns, data in readable_rows(source, "SELECT rowid, hash, at_ns, data FROM blobs", "rowid"):
        if isinstance(data, bytes) and isinstance(at_ns, int) and blobs.may_be_whole(data, str(key)):
            blobs.store(fresh, str(key), data, at_ns=at_ns, limit=_MAX_NUMBER)


def readable_rows(source: sqlite3.Connection, select: str, number: str) -> Iterator[tuple[object, ...]]:
    """Rows by number, which is selected first and left out; ranges that cannot be read are bisected."""
    spans, failures = [(1, _MAX_NUMBER)], 0
    max_failures = _MAX_FAILURES if _has_readable_page(source, select, number) else _MAX_FAILURES_UNREADABLE
    statement = f"{select} WHERE {number} BETWEEN ? AND ? ORDER BY {number} LIMIT {_PAGE}"
    while spans and failures < max_failures:
        low, high = spans.pop()
        try:
            rows = source.execute(statement, (low, high)).fetchall()
        except sqlite3.Error as error:
            if error.sqlite_errorcode in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR):
                # Not a database, or no such table: there is nothing to read.
                return
            failures += 1
            if low < high:
                middle = (low + high) // 2
                spans += [(middle + 1, high), (low, middle)]
            continue
        for _, *row in rows:
            yield tuple(row)
        if len(rows) == _PAGE:
            spans.append((rows[-1][0] + 1, high))


def _has_readable_page(source: sqlite3.Connection, select: str, number: str) -> bool:
    """Whether one of some numbers, from all over the table and beyond its end, can be looked up."""
    for exponent in range(_MAX_NUMBER.bit_length()):
        with suppress(sqlite3.Error):
            source.execute(f"{select} WHERE {number} = ?", (1 << exponent,)).fetchall()
            return True
    return False
