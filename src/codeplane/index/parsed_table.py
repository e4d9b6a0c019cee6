"""The table of parsed files: each file's path, digest, language and packed facts."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.index import definition_history, definitions, feed_record, terms
from codeplane.index.page_packing import packing_order
from codeplane.index.parse_worker import ParseResult
from codeplane.index.path_key import AT, at

SCHEMA = (
    """CREATE TABLE parsed(
        file_id INTEGER PRIMARY KEY, path_key INTEGER, path BLOB, digest BLOB, language INTEGER, epoch INTEGER,
        problem TEXT, facts BLOB)""",
    "CREATE INDEX parsed_by_path ON parsed(path_key)",
)
# The bytes of a row beside its path and its facts.
_BESIDE = 35


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedFile:
    """A file's parse result with its path, digest and language."""

    path: str
    digest: str
    language: str
    parsed: ParseResult


def order_for_pages(files: Sequence[ParsedFile]) -> list[ParsedFile]:
    """The files in an order that fills database pages best."""
    sizes = [len(file.parsed.facts) + len(file.path) + _BESIDE for file in files]
    return [files[place] for place in packing_order(sizes)]


def add(connection: sqlite3.Connection, files: Sequence[ParsedFile], *, first: int, epoch: int) -> None:
    """Insert files with their definitions, numbered from `first`."""
    spoken = terms.number_words(connection, {file.language for file in files})
    connection.executemany(
        "INSERT INTO parsed VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                number,
                *at(os.fsencode(file.path)),
                bytes.fromhex(file.digest),
                spoken[file.language],
                epoch,
                file.parsed.problem,
                file.parsed.facts,
            )
            for number, file in enumerate(files, first)
        ),
    )
    definitions.add(connection, [(number, file.parsed.rows) for number, file in enumerate(files, first)])


def remove(connection: sqlite3.Connection, path: bytes, epoch: int) -> None:
    """Delete a file's facts and store its definitions as history."""
    row = connection.execute(f"SELECT file_id, epoch FROM parsed WHERE {AT}", at(path)).fetchone()
    if row is None:
        return
    file_id, since = row
    if since < epoch:
        definition_history.store(
            connection, path, since=since, until=epoch, rows=definitions.snapshot(connection, file_id)
        )
    feed_record.detach_file(connection, file_id)
    definitions.remove(connection, file_id)
    connection.execute("DELETE FROM parsed WHERE file_id = ?", (file_id,))


def file_id_of(connection: sqlite3.Connection, path: bytes) -> int | None:
    """The number of a file, or None if it is not parsed."""
    row = connection.execute(f"SELECT file_id FROM parsed WHERE {AT}", at(path)).fetchone()
    return None if row is None else int(row[0])
