"""Pages of the log, each as one read transaction sees it."""

import sqlite3
from dataclasses import dataclass

from codeplane.kernel.event import Event, Gap
from codeplane.kernel.ports import EventQuery
from codeplane.ledger.database import last_position
from codeplane.ledger.finding import find
from codeplane.ledger.rows import COLUMNS, from_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Events that fit a query, where the log ended, and up to where some that would fit may be gone."""

    events: list[Event]
    last: int
    dropped: int


def of_stream(connection: sqlite3.Connection, stream: str, after: int, limit: int) -> list[Event] | Gap:
    """Events of one stream after a sequence, oldest first; a gap when the next one is gone, or `after` never was."""
    row = connection.execute("SELECT head, first FROM streams WHERE stream = ?", (stream,)).fetchone()
    head, first = row or (0, 1)
    if after > head or (after < head and after + 1 < first):
        return Gap(stream=stream, requested_after=after, first_available=first)
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM events WHERE stream = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        (stream, after, limit),
    )
    return [from_row(found) for found in rows]


def of_log(connection: sqlite3.Connection, query: EventQuery) -> Page:
    """Events of the whole log that fit, in the order of their positions."""
    last = last_position(connection)
    rows = find(connection, query, last)
    if query.newest:
        rows.reverse()
    return Page(events=[from_row(row) for row in rows], last=last, dropped=_dropped(connection, query))


def _dropped(connection: sqlite3.Connection, query: EventQuery) -> int:
    (dropped,) = connection.execute("SELECT dropped_position FROM log_state").fetchone()
    if query.stream is None or query.stream.endswith("*") or query.after >= dropped:
        return int(dropped)
    # A stream loses its beginning: one that lost nothing, or still has something this old, has no gap after it.
    whole = connection.execute(
        """SELECT 1 FROM streams WHERE stream = ?1 AND first > 1
           AND NOT EXISTS (SELECT 1 FROM events WHERE stream = ?1 AND position <= ?2)""",
        (query.stream, query.after),
    ).fetchone()
    return int(dropped) if whole else 0
