"""Events of the whole log by what is known of them, without looking at all of it.

Which index to take is said here and not left to SQLite: without statistics it believes every index to be a good one,
and would sort half of the log by position to show its last page.
"""

import sqlite3
from dataclasses import dataclass

from codeplane.kernel.call_record import task_stream
from codeplane.kernel.ports import EventQuery
from codeplane.ledger.rows import COLUMNS, Cell, Row

# So many places are looked through one by one before an index is asked: whoever follows the log is near its end.
_NEAR = 5000
# Streams of a prefix that are few enough to be counted, and events that are few enough to be sorted.
_FEW_STREAMS, _FEW_EVENTS = 2000, 50_000
# The highest character there is: a prefix with it comes after everything that begins with the prefix.
_HIGHEST = "\U0010ffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    """Conditions on one event, with their values."""

    terms: tuple[str, ...] = ()
    values: tuple[Cell, ...] = ()

    def also(self, term: str, *values: Cell) -> "_Where":
        return _Where(terms=(*self.terms, term), values=(*self.values, *values))

    def __str__(self) -> str:
        return " AND ".join(self.terms)


def find(connection: sqlite3.Connection, query: EventQuery, last: int) -> list[Row]:
    """The rows that fit a query, in the order it asks for; `last` is where the log ends."""
    until = last if query.until is None else min(query.until, last)
    kinds, prefix = tuple(dict.fromkeys(query.types)), _prefix(query)
    where = _Where().also("position > ?", query.after).also("position <= ?", until)
    for term, value in (
        ("call_id = ?", query.call_id),
        ("session_id = ?", query.session_id),
        ("task_id = ?", query.task_id),
        ("stream = ?", query.stream if prefix is None else None),
    ):
        where = where if value is None else where.also(term, value)
    where = _told(where, query)
    within = where if not prefix else _like(where, "stream", prefix + "*")
    typed = within if not kinds else within.also(f"type IN ({', '.join('?' * len(kinds))})", *kinds)
    asking = _Asking(connection=connection, order="DESC" if query.newest else "ASC", limit=query.limit)
    if query.call_id is not None:
        return asking.rows("INDEXED BY events_by_call", typed)
    if query.stream is not None and prefix is None:
        # Within a stream sequence and position are the same order, and the index has this one.
        return asking.rows("INDEXED BY events_by_stream", typed, by="sequence")
    if query.session_id is not None:
        return asking.rows("INDEXED BY events_by_session", typed)
    if query.task_id is not None:
        return asking.of_task(typed, query.task_id)
    if until - query.after <= _NEAR:
        return asking.rows("NOT INDEXED", typed)
    if prefix and _few(connection, prefix):
        return asking.sorted(typed)
    if kinds:
        return asking.merged(within, kinds)
    if not prefix:
        return asking.rows("NOT INDEXED", within)
    close = ("position > ?", until - _NEAR) if query.newest else ("position <= ?", query.after + _NEAR)
    found = asking.rows("NOT INDEXED", within.also(*close))
    return found if len(found) == query.limit else asking.sorted(within)


def _told(where: _Where, query: EventQuery) -> _Where:
    """What is asked of an event's content: no index helps with that, but SQLite looks at it faster than we do."""
    if query.actor is not None:
        where = _like(where, "actor", query.actor)
    for one in query.conditions:
        field = f"payload ->> '$.{one.field}'"
        assert one.field.isidentifier() and (not one.or_has or one.or_has.isidentifier())
        if one.other and one.or_has:
            where = where.also(f"({field} IS NOT ? OR payload ->> '$.{one.or_has}' IS NOT NULL)", one.value)
        elif one.other and one.or_session:
            # Told by the letters where they can tell, as below.
            said = f"session_id IS NOT NULL OR instr(payload, ?) = 0 OR {field} IS NOT ?"
            where = where.also(f"({said})", one.value, one.value)
        elif one.other:
            where = where.also(f"{field} IS NOT ?", one.value)
        else:
            # Asked for once: to find it, SQLite takes the whole payload apart.
            where = _like(where, f"coalesce({field}, ?)", one.value, one.value.removesuffix("*"))
    for word in query.words:
        assert word.isalpha() and word.isascii()
        where = where.also("payload LIKE ?", f"%{word}%")
    if query.quiet:
        marks = ", ".join("?" * len(query.quiet))
        # Told by the letters where they can tell: there may be thousands of these, and taking them apart takes long.
        changed = """instr(payload, '"mutates":false') = 0
               OR (instr(payload, '"mutates":true') > 0 AND payload ->> '$.mutates' IS NOT 0)"""
        where = where.also(f"(session_id IS NULL OR session_id NOT IN ({marks}) OR {changed})", *query.quiet)
    return where


def _like(where: _Where, column: str, value: str, *more: Cell) -> _Where:
    """Equal to a value, or beginning with what stands before its *; `more` is what the column itself asks for."""
    if not value.endswith("*"):
        return where.also(f"{column} = ?", *more, value)
    return where.also(f"{column} BETWEEN ? AND ?", *more, value[:-1], value[:-1] + _HIGHEST)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """The ways in which rows are found, all of them in one order and up to one limit."""

    connection: sqlite3.Connection
    order: str
    limit: int

    def rows(self, index: str, where: _Where, *, by: str = "position") -> list[Row]:
        """As the index gives them."""
        return self.connection.execute(
            f"SELECT {COLUMNS} FROM events {index} WHERE {where} ORDER BY {by} {self.order} LIMIT ?",
            (*where.values, self.limit),
        ).fetchall()

    def of_task(self, where: _Where, task_id: str) -> list[Row]:
        """What its own stream holds, and what names it elsewhere."""
        own = where.also("stream = ?", task_stream(task_id))
        found = self.rows("INDEXED BY events_by_stream", own, by="sequence")
        found += self.rows("INDEXED BY events_by_task", where.also("stream != 'task/' || task_id"))
        found.sort(key=_position, reverse=self.order == "DESC")
        return found[: self.limit]

    def merged(self, where: _Where, kinds: tuple[str, ...]) -> list[Row]:
        """Of each type in its order, and then the first of all: no type is read further than it is needed."""
        one = f"SELECT {COLUMNS} FROM events INDEXED BY events_by_type WHERE type = ? AND {where}"
        return self.connection.execute(
            f"{' UNION ALL '.join([one] * len(kinds))} ORDER BY position {self.order} LIMIT ?",
            (*(value for kind in kinds for value in (kind, *where.values)), self.limit),
        ).fetchall()

    def sorted(self, where: _Where) -> list[Row]:
        """Of many streams: their places are sorted, and only the events that are shown are read."""
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
    """What the streams begin with; None when one stream is meant, or all of them."""
    return query.stream[:-1] if query.stream is not None and query.stream.endswith("*") else None


def _few(connection: sqlite3.Connection, prefix: str) -> bool:
    """Whether the streams of a prefix hold little enough to be sorted."""
    streams, events = connection.execute(
        """SELECT count(*), coalesce(sum(held), 0) FROM (SELECT head - first + 1 AS held FROM streams
           WHERE stream >= ? AND stream < ? LIMIT ?)""",
        (prefix, prefix + _HIGHEST, _FEW_STREAMS + 1),
    ).fetchone()
    return bool(streams <= _FEW_STREAMS and events <= _FEW_EVENTS)
