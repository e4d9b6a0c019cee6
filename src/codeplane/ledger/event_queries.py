"""Queries for events.

The index is chosen here and not left to SQLite: without statistics it assumes that every index is a good one, and
would sort half of the log by position to return its last page.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.call_record import task_stream
from codeplane.kernel.event import Event, Gap
from codeplane.kernel.event_log import PUBLIC_STREAMS, EventQuery, EventScope
from codeplane.ledger.database import last_position
from codeplane.ledger.own_actors import own_actor_condition
from codeplane.ledger.rows import COLUMNS, Cell, Row, from_row

# Up to so many positions are scanned instead of using an index: followers of the log are near its end.
_SCAN_POSITIONS = 5000
# How many streams of a prefix are counted, and how many events are sorted, at most.
_FEW_STREAMS, _FEW_EVENTS = 2000, 50_000
# The highest code point: a prefix followed by it sorts after everything with the prefix.
_HIGHEST = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """SQL conditions on an event, with their values."""

    terms: tuple[str, ...] = ()
    values: tuple[Cell, ...] = ()

    def also(self, term: str, *values: Cell) -> "_Where":
        return _Where(terms=(*self.terms, term), values=(*self.values, *values))

    def __str__(self) -> str:
        return " AND ".join(self.terms)


def find_events(connection: sqlite3.Connection, query: EventQuery, last: int) -> list[Row]:
    """The rows that match a query, in its order; `last` is the log's last position."""
    until = last if query.until is None else min(query.until, last)
    kinds, prefix = tuple(dict.fromkeys(query.types)), _prefix(query)
    where = _Where().also("position > ?", query.after).also("position <= ?", until)
    for term, value in (
        ("call_id = ?", query.call_id),
        ("session_id = ?", query.session_id),
        ("task_id = ?", query.task_id),
        ("work_id = ?", query.work_id),
        ("stream = ?", query.stream if prefix is None else None),
    ):
        where = where if value is None else where.also(term, value)
    if query.scope is not None:
        where = _with_scope(where, query.scope)
    where = _with_content_conditions(where, query)
    within = where if not prefix else _with_match(where, "stream", prefix + "*")
    typed = within if not kinds else within.also(f"type IN ({', '.join('?' * len(kinds))})", *kinds)
    select = _Select(connection=connection, order="DESC" if query.newest else "ASC", limit=query.limit)
    if query.call_id is not None:
        return select.rows("INDEXED BY events_by_call", typed)
    if query.stream is not None and prefix is None:
        # Within a stream, sequence and position have the same order, and the index has the sequence.
        return select.rows("INDEXED BY events_by_stream", typed, by="sequence")
    if query.work_id is not None:
        return select.rows("INDEXED BY events_by_work", typed)
    if query.session_id is not None:
        return select.rows("INDEXED BY events_by_session", typed)
    if query.task_id is not None:
        return select.of_task(typed, query.task_id)
    if until - query.after <= _SCAN_POSITIONS:
        return select.rows("NOT INDEXED", typed)
    if prefix and _is_small(connection, prefix):
        return select.select_sorted(typed)
    if kinds:
        return select.merge_types(within, kinds)
    if not prefix:
        return select.rows("NOT INDEXED", within)
    nearby = (
        ("position > ?", until - _SCAN_POSITIONS) if query.newest else ("position <= ?", query.after + _SCAN_POSITIONS)
    )
    rows = select.rows("NOT INDEXED", within.also(*nearby))
    return rows if len(rows) == query.limit else select.select_sorted(within)


def _with_scope(where: _Where, scope: EventScope) -> _Where:
    """Add the condition that an event is the reader's own, of a stream that it began, or public."""
    own, values = own_actor_condition("events.actor", scope)
    began, more = own_actor_condition("s.owner", scope)
    marks = ", ".join("?" * len(PUBLIC_STREAMS))
    term = f"""({own} OR events.stream IN ({marks})
        OR EXISTS (SELECT 1 FROM streams s WHERE s.stream = events.stream AND {began}))"""
    return where.also(term, *values, *PUBLIC_STREAMS, *more)


def hidden_streams(connection: sqlite3.Connection, streams: Sequence[str], scope: EventScope) -> list[str]:
    """The streams among these that a reader may not follow: those that it did not begin and that are not public."""
    marks = ", ".join("?" * len(streams))
    own, values = own_actor_condition("owner", scope)
    owned = connection.execute(f"SELECT stream FROM streams WHERE stream IN ({marks}) AND {own}", (*streams, *values))
    visible = {*PUBLIC_STREAMS, *(str(stream) for (stream,) in owned)}
    return [stream for stream in streams if stream not in visible]


def _with_content_conditions(where: _Where, query: EventQuery) -> _Where:
    """Add the conditions on an event's content: without an index, but faster in SQLite than in Python."""
    if query.actor is not None:
        where = _with_match(where, "actor", query.actor)
    for field_filter in query.conditions:
        field = f"payload ->> '$.{field_filter.field}'"
        assert field_filter.field.isidentifier() and (not field_filter.or_has or field_filter.or_has.isidentifier())
        if field_filter.other and field_filter.or_has:
            where = where.also(
                f"({field} IS NOT ? OR payload ->> '$.{field_filter.or_has}' IS NOT NULL)", field_filter.value
            )
        elif field_filter.other and field_filter.or_session:
            # A text search first where it can decide, as below.
            condition = f"session_id IS NOT NULL OR instr(payload, ?) = 0 OR {field} IS NOT ?"
            where = where.also(f"({condition})", field_filter.value, field_filter.value)
        elif field_filter.other:
            where = where.also(f"{field} IS NOT ?", field_filter.value)
        else:
            # The field is named once, because SQLite parses the whole payload to extract it.
            where = _with_match(
                where, f"coalesce({field}, ?)", field_filter.value, field_filter.value.removesuffix("*")
            )
    for word in query.words:
        assert word.isalpha() and word.isascii()
        where = where.also("payload LIKE ?", f"%{word}%")
    if query.quiet:
        marks = ", ".join("?" * len(query.quiet))
        # A text search first where it can decide: there may be thousands of these, and parsing takes long.
        changed = """instr(payload, '"mutates":false') = 0
               OR (instr(payload, '"mutates":true') > 0 AND payload ->> '$.mutates' IS NOT 0)"""
        where = where.also(f"(session_id IS NULL OR session_id NOT IN ({marks}) OR {changed})", *query.quiet)
    return where


def _with_match(where: _Where, column: str, value: str, *more: Cell) -> _Where:
    """Add a condition: equal to the value, or with its prefix when it ends in *; `more` are the column's own values."""
    if not value.endswith("*"):
        return where.also(f"{column} = ?", *more, value)
    return where.also(f"{column} BETWEEN ? AND ?", *more, value[:-1], value[:-1] + _HIGHEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Select:
    """Runs queries with one order and one limit."""

    connection: sqlite3.Connection
    order: str
    limit: int

    def rows(self, index: str, where: _Where, *, by: str = "position") -> list[Row]:
        """Select in the order of the index."""
        return self.connection.execute(
            f"SELECT {COLUMNS} FROM events {index} WHERE {where} ORDER BY {by} {self.order} LIMIT ?",
            (*where.values, self.limit),
        ).fetchall()

    def of_task(self, where: _Where, task_id: str) -> list[Row]:
        """Select from the task's own stream, and its events in other streams."""
        own = where.also("stream = ?", task_stream(task_id))
        rows = self.rows("INDEXED BY events_by_stream", own, by="sequence")
        rows += self.rows("INDEXED BY events_by_task", where.also("stream != 'task/' || task_id"))
        rows.sort(key=_position, reverse=self.order == "DESC")
        return rows[: self.limit]

    def merge_types(self, where: _Where, kinds: tuple[str, ...]) -> list[Row]:
        """Merge the types, each in its order: no type is read further than needed."""
        select = f"SELECT {COLUMNS} FROM events INDEXED BY events_by_type WHERE type = ? AND {where}"
        return self.connection.execute(
            f"{' UNION ALL '.join([select] * len(kinds))} ORDER BY position {self.order} LIMIT ?",
            (*(value for kind in kinds for value in (kind, *where.values)), self.limit),
        ).fetchall()

    def select_sorted(self, where: _Where) -> list[Row]:
        """Sort the positions of many streams, and read only the events that are returned."""
        return self.connection.execute(
            f"""SELECT {COLUMNS} FROM events WHERE position IN (
                    SELECT position FROM events INDEXED BY events_by_stream WHERE {where}
                    ORDER BY position {self.order} LIMIT ?)
                ORDER BY position {self.order}""",
            (*where.values, self.limit),
        ).fetchall()


def _position(row: Row) -> int:
    assert isinstance(row[0], int)
    return row[0]


def _prefix(query: EventQuery) -> str | None:
    """The prefix of the wanted streams; None for one stream, or all."""
    return query.stream[:-1] if query.stream is not None and query.stream.endswith("*") else None


def _is_small(connection: sqlite3.Connection, prefix: str) -> bool:
    """Whether the streams of a prefix hold few enough events to be sorted."""
    streams, events = connection.execute(
        """SELECT count(*), coalesce(sum(held), 0) FROM (SELECT head - first + 1 AS held FROM streams
           WHERE stream >= ? AND stream < ? LIMIT ?)""",
        (prefix, prefix + _HIGHEST, _FEW_STREAMS + 1),
    ).fetchone()
    return bool(streams <= _FEW_STREAMS and events <= _FEW_EVENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """Events that match a query, the last position of the log, and up to which position some may be gone."""

    events: list[Event]
    last: int
    dropped: int


def read_stream(connection: sqlite3.Connection, stream: str, after: int, limit: int) -> list[Event] | Gap:
    """Events of one stream after a sequence, oldest first; a gap when the next is gone, or `after` never existed."""
    stream_row = connection.execute("SELECT head, first FROM streams WHERE stream = ?", (stream,)).fetchone()
    head, first = stream_row or (0, 1)
    if after > head or (after < head and after + 1 < first):
        return Gap(stream=stream, requested_after=after, first_available=first)
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM events WHERE stream = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        (stream, after, limit),
    )
    return [from_row(row) for row in rows]


def read_log(connection: sqlite3.Connection, query: EventQuery) -> LogPage:
    """Events of the whole log that match, in the order of their positions."""
    last = last_position(connection)
    rows = find_events(connection, query, last)
    if query.newest:
        rows.reverse()
    return LogPage(events=[from_row(row) for row in rows], last=last, dropped=_dropped_position(connection, query))


def _dropped_position(connection: sqlite3.Connection, query: EventQuery) -> int:
    (dropped,) = connection.execute("SELECT dropped_position FROM log_state").fetchone()
    if query.stream is None or query.stream.endswith("*") or query.after >= dropped:
        return int(dropped)
    # Only the start of a stream is dropped: one that lost nothing, or still has older events, has no gap here.
    whole = connection.execute(
        """SELECT 1 FROM streams WHERE stream = ?1 AND first > 1
           AND NOT EXISTS (SELECT 1 FROM events WHERE stream = ?1 AND position <= ?2)""",
        (query.stream, query.after),
    ).fetchone()
    return int(dropped) if whole else 0
