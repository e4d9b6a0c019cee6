"""Inserts of one statement that follow each other, written together."""

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from codeplane.ledger.rows import Cell, Row

# So many rows go into one statement.
SIZES = (16, 8, 4, 2, 1)
# What follows the values names none of them: it means the same for every row.
_VALUE = r"(?:\?|[\w']+)"
_INSERT = re.compile(
    r"(\s*INSERT (?:OR \w+ )?INTO )(\w+)(\s*(?:\([\w,\s]+\))?\s*VALUES )"
    rf"(\((?:{_VALUE}, )*{_VALUE}\))((?:\s*ON CONFLICT[^?]*)?)"
)


def insert_rows(connection: sqlite3.Connection, statements: Mapping[int, str], rows: Sequence[Row]) -> None:
    """Insert rows by few statements: with each the interpreter's lock is given away, and to get it back takes longer
    than a row."""
    start = 0
    for size in SIZES:
        while len(rows) - start >= size:
            connection.execute(statements[size], tuple(chain.from_iterable(rows[start : start + size])))
            start += size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Insert:
    """An insert that can take several rows: its table, and its text for each number of them."""

    table: str
    by_size: Mapping[int, str]


class MergedInserts:
    """Runs a projection's statements so that every table sees its own in their order, with one statement for inserts
    that are alike and follow each other."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._unread = connection.cursor()
        # By table, the inserts that wait for more of their kind.
        self._waiting: dict[str, tuple[_Insert, list[Row]]] = {}

    def execute(self, statement: str, parameters: Sequence[Cell] = (), /) -> sqlite3.Cursor:
        """Run a statement; a plain insert is run with those that follow it."""
        insert = _parse(statement)
        for table in [*self._waiting]:
            if self._waiting[table][0] is not insert and _names(statement, table):
                self._write(table)
        if insert is None:
            return self._connection.execute(statement, parameters)
        self._waiting.setdefault(insert.table, (insert, []))[1].append(tuple(parameters))
        return self._unread

    def flush(self) -> None:
        """Write the inserts that wait."""
        for table in [*self._waiting]:
            self._write(table)

    def _write(self, table: str) -> None:
        insert, rows = self._waiting.pop(table)
        insert_rows(self._connection, insert.by_size, rows)


@lru_cache(maxsize=256)
def _parse(statement: str) -> _Insert | None:
    """The insert; None for any other statement, and for one that cannot take several rows, as with named values."""
    if (match := _INSERT.fullmatch(statement)) is None:
        return None
    head, table, columns, marks, tail = match.groups()
    head = f"{head}{table}{columns}"
    return _Insert(table=table, by_size={size: head + ", ".join([marks] * size) + tail for size in SIZES})


@lru_cache(maxsize=1024)
def _names(statement: str, table: str) -> bool:
    """Whether a statement may read or write a table."""
    return re.search(rf"\b{table}\b", statement) is not None
