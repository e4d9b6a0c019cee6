"""The record of what the full text contains: numbers of files with facts, paths and digests of others."""

import os
import sqlite3
from collections.abc import Iterable, Mapping

from codeplane.index.path_key import AT, at

SCHEMA = (
    "CREATE TABLE fed(file_id INTEGER PRIMARY KEY)",
    "CREATE TABLE fed_apart(path BLOB PRIMARY KEY, digest BLOB) WITHOUT ROWID",
    # The commit of the full text this speaks of.
    "CREATE TABLE fed_until(epoch INTEGER)",
)
_WITH_FACTS = f"FROM parsed WHERE {AT} AND digest = ?"


def load_feed(connection: sqlite3.Connection, epoch: int | None) -> dict[str, str]:
    """The files in the full text if its last commit was this epoch; empty otherwise."""
    if epoch is None or connection.execute("SELECT epoch FROM fed_until").fetchone() != (epoch,):
        return {}
    rows = connection.execute(
        "SELECT path, digest FROM fed JOIN parsed USING (file_id) UNION ALL SELECT path, digest FROM fed_apart"
    )
    return {os.fsdecode(path): digest.hex() for path, digest in rows}


def record_feed(
    connection: sqlite3.Connection, added: Mapping[str, str], removed: Iterable[str], *, epoch: int, anew: bool
) -> None:
    """Record what the full text has committed."""
    connection.execute("DELETE FROM fed_until")
    if anew:
        connection.execute("DELETE FROM fed")
        connection.execute("DELETE FROM fed_apart")
    gone = [os.fsencode(path) for path in (*removed, *(() if anew else added))]
    connection.executemany(f"DELETE FROM fed WHERE file_id = (SELECT file_id FROM parsed WHERE {AT})", map(at, gone))
    connection.executemany("DELETE FROM fed_apart WHERE path = ?", ((path,) for path in gone))
    apart = []
    for path, digest in added.items():
        raw, content = os.fsencode(path), bytes.fromhex(digest)
        inserted = connection.execute(f"INSERT OR IGNORE INTO fed SELECT file_id {_WITH_FACTS}", (*at(raw), content))
        if not inserted.rowcount:
            apart.append((raw, content))
    connection.executemany("INSERT INTO fed_apart VALUES (?, ?)", apart)
    connection.execute("INSERT INTO fed_until VALUES (?)", (epoch,))


def detach_file(connection: sqlite3.Connection, file_id: int) -> None:
    """Record a file by path and digest because its facts are about to be deleted."""
    connection.execute(
        "INSERT OR REPLACE INTO fed_apart SELECT path, digest FROM fed JOIN parsed USING (file_id) WHERE file_id = ?",
        (file_id,),
    )
    connection.execute("DELETE FROM fed WHERE file_id = ?", (file_id,))
