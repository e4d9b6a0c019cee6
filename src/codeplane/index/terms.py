"""Interned words of a table, such as kinds and languages, stored once and referenced by number."""

import sqlite3
from collections.abc import Iterable

SCHEMA = "CREATE TABLE terms(term_id INTEGER PRIMARY KEY, term TEXT UNIQUE)"


def number_words(connection: sqlite3.Connection, wanted: Iterable[str]) -> dict[str, int]:
    """The number of each word; new words get one."""
    connection.executemany("INSERT OR IGNORE INTO terms(term) VALUES (?)", ((word,) for word in sorted(set(wanted))))
    return dict(connection.execute("SELECT term, term_id FROM terms"))
