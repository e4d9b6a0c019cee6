"""The history of definitions: what each file defined at earlier epochs."""

import os
import sqlite3
import zlib
from collections.abc import Sequence

import msgspec

SCHEMA = """CREATE TABLE snapshots(
        file_path BLOB, since INTEGER, until INTEGER, rows BLOB, PRIMARY KEY(file_path, since)) WITHOUT ROWID"""
_KEPT_EPOCHS = 1000

Rows = tuple[tuple[object, ...], ...]
"""Definitions as (kind, name, lexical path, signature, line)."""


def store(
    connection: sqlite3.Connection, path: bytes, *, since: int, until: int, rows: Sequence[tuple[object, ...]]
) -> None:
    """Store what a file defined from one epoch until another."""
    connection.execute(
        "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)",
        (path, since, until, zlib.compress(msgspec.json.encode(rows), 1)),
    )


def prune(connection: sqlite3.Connection, epoch: int) -> None:
    """Delete what ended too many epochs ago."""
    connection.execute("DELETE FROM snapshots WHERE until <= ?", (epoch - _KEPT_EPOCHS,))


def load(connection: sqlite3.Connection, path: bytes, epoch: int) -> Rows | None:
    """What a file defined at an epoch before its present facts, or None."""
    row = connection.execute(
        "SELECT rows FROM snapshots WHERE file_path = ? AND since <= ? AND until > ?", (path, epoch, epoch)
    ).fetchone()
    return tuple(map(tuple, msgspec.json.decode(zlib.decompress(row[0])))) if row is not None else None


def first_epoch(connection: sqlite3.Connection, epoch: int) -> int:
    """The earliest epoch with stored definitions; a later one than `epoch` if there is none."""
    oldest = connection.execute("SELECT (SELECT MIN(epoch) FROM parsed), (SELECT MIN(since) FROM snapshots)").fetchone()
    first = min((number for number in oldest if number is not None), default=epoch + 1)
    return max(int(first), epoch - _KEPT_EPOCHS + 1)


def files_at(connection: sqlite3.Connection, epoch: int) -> dict[str, tuple[int, str]]:
    """Files with definitions at an epoch: the epoch they date from, and their present language or nothing."""
    rows = connection.execute(
        "SELECT file_path, since, '' FROM snapshots WHERE since <= ? AND until > ?"
        " UNION ALL SELECT path, epoch, term FROM parsed JOIN terms ON term_id = language WHERE epoch <= ?",
        (epoch, epoch, epoch),
    )
    return {os.fsdecode(path): (since, language) for path, since, language in rows}
