"""Words that come again and again in a table, such as kinds and languages: kept once, and known by a number."""

import sqlite3
from collections.abc import Iterable

SCHEMA = "CREATE TABLE terms(term_id INTEGER PRIMARY KEY, term TEXT UNIQUE)"


def numbered(connection: sqlite3.Connection, wanted: Iterable[str]) -> dict[str, int]:
    """The number of each word, those that had none included."""
    connection.executemany("INSERT OR IGNORE INTO terms(term) VALUES (?)", ((word,) for word in sorted(set(wanted))))
    return dict(connection.execute("SELECT term, term_id FROM terms"))
