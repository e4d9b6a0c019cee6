"""What the full text was fed: of files that have facts their numbers, of others their paths and contents."""

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


def fed(connection: sqlite3.Connection, epoch: int | None) -> dict[str, str]:
    """What the full text holds if its last commit was this one; nothing if it was another."""
    if epoch is None or connection.execute("SELECT epoch FROM fed_until").fetchone() != (epoch,):
        return {}
    rows = connection.execute(
        "SELECT path, digest FROM fed JOIN parsed USING (file_id) UNION ALL SELECT path, digest FROM fed_apart"
    )
    return {os.fsdecode(path): digest.hex() for path, digest in rows}


def feed(
    connection: sqlite3.Connection, added: Mapping[str, str], removed: Iterable[str], *, epoch: int, anew: bool
) -> None:
    """Note what was fed, after the full text has committed it."""
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
        found = connection.execute(f"INSERT OR IGNORE INTO fed SELECT file_id {_WITH_FACTS}", (*at(raw), content))
        if not found.rowcount:
            apart.append((raw, content))
    connection.executemany("INSERT INTO fed_apart VALUES (?, ?)", apart)
    connection.execute("INSERT INTO fed_until VALUES (?)", (epoch,))


def part(connection: sqlite3.Connection, file_id: int) -> None:
    """A file is about to lose its facts: what was fed of it is noted by its path from now on."""
    connection.execute(
        "INSERT OR REPLACE INTO fed_apart SELECT path, digest FROM fed JOIN parsed USING (file_id) WHERE file_id = ?",
        (file_id,),
    )
    connection.execute("DELETE FROM fed WHERE file_id = ?", (file_id,))
