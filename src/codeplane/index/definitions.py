"""The table of definitions, found by name, id or file, in few bytes.

Its number holds its file's and its place there. What it is inside of is the place of the definition that it is inside
of, if there is one; of its id a part is kept, which is enough to look for it, as the whole is made of all the rest.
"""

import os
import re
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

from codeplane.code.facts.assembly import MAX_DEFINITIONS
from codeplane.code.languages.registry import languages
from codeplane.index import terms
from codeplane.index.parse_worker import DefinitionRow, uid_of

SCHEMA = """CREATE TABLE definitions(
    id INTEGER PRIMARY KEY, uid INTEGER, name TEXT, kind INTEGER, inside, signature BLOB, ordinal INTEGER,
    line INTEGER)"""
INDEXES = {
    "definitions_by_name": "CREATE INDEX IF NOT EXISTS definitions_by_name ON definitions(name)",
    "definitions_by_uid": "CREATE INDEX IF NOT EXISTS definitions_by_uid ON definitions(uid)",
}
_BITS = 15
_FILE = 1 << _BITS
_OF_ITS_FILE = -_FILE
assert MAX_DEFINITIONS <= _FILE
_MOST = 1 << 32
_SIGNATURE = re.compile(r"([0-9a-f]{2})*")
_UID_BYTES = 8
# Enough to leave a few of a million to tell apart by their whole ids; each byte more is kept twice.
_UID_KEPT = 2
_OF_FILE = f"definitions.id BETWEEN {{0}} << {_BITS} AND ({{0}} << {_BITS}) + {_FILE - 1}"
_SYMBOLS = (
    "SELECT id, name, inside, kinds.term, signature, ordinal, line, parsed.path, lower(hex(digest)), languages.term"
    " FROM {} JOIN terms AS kinds ON kinds.term_id = kind JOIN terms AS languages ON languages.term_id = language"
    " WHERE {} ORDER BY parsed.path, id LIMIT ?"
)
_FROM_DEFINITION = f"definitions JOIN parsed ON file_id = id >> {_BITS}"
_FROM_FILE = f"parsed CROSS JOIN definitions ON {_OF_FILE.format('file_id')}"

_DefinitionRow = tuple[int, str, "int | str | None", *tuple[object, ...]]
"""The first columns of a definition's row: number, name and container."""


class Symbol(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A definition as stored: enough to list it and to find its facts."""

    name: str
    kind: str
    path: str
    signature: str
    ordinal: int
    line: int
    file: str
    digest: str
    language: str
    position: int

    @property
    def uid(self) -> str:
        """Its id."""
        language = languages().by_name[self.language]
        return uid_of(language.family or language.name, os.fsencode(self.file).decode("latin-1"), self).hex()


def are_plausible(rows: Sequence[DefinitionRow]) -> bool:
    """Whether rows from an archive could come from our parser; the archive may have been altered."""
    numbers = [number for row in rows for number in (row.line, row.ordinal)]
    return (
        len(rows) <= MAX_DEFINITIONS
        and all(0 <= number < _MOST for number in numbers)
        and all(row.name and row.path.endswith(row.name) and _SIGNATURE.fullmatch(row.signature) for row in rows)
    )


def add(connection: sqlite3.Connection, files: Sequence[tuple[int, Sequence[DefinitionRow]]]) -> None:
    """Insert the definitions of new files, by file number."""
    kinds = terms.number_words(connection, {row.kind for _, rows in files for row in rows})
    connection.executemany(
        "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (kept for number, rows in files for kept in _select_rows(number << _BITS, rows, kinds)),
    )


def _select_rows(first: int, rows: Sequence[DefinitionRow], kinds: dict[str, int]) -> Iterable[tuple[object, ...]]:
    places: dict[str, int] = {}
    for position, row in enumerate(rows):
        # Only what came before: so nothing is inside of itself, whatever a file says.
        within = row.path[: -len(row.name)].removesuffix(".")
        inside = places.get(within, within) if within else None
        places.setdefault(row.path, position)
        signature = bytes.fromhex(row.signature)
        yield first + position, _shorten(row.uid), row.name, kinds[row.kind], inside, signature, row.ordinal, row.line


def remove(connection: sqlite3.Connection, file_id: int) -> None:
    """Delete a file's definitions."""
    first = file_id << _BITS
    connection.execute("DELETE FROM definitions WHERE id BETWEEN ? AND ?", (first, first + _FILE - 1))


def find_named(connection: sqlite3.Connection, name: str, *, limit: int) -> list[Symbol]:
    """Definitions with a name, ordered by file and position."""
    return _symbols(connection, _SYMBOLS.format(_FROM_DEFINITION, "name = ?"), (name, limit))


def named_any(connection: sqlite3.Connection, wanted: Sequence[str]) -> list[Symbol]:
    """Definitions with any of several names, in one query."""
    where = "name IN (SELECT value FROM json_each(?))"
    return _symbols(connection, _SYMBOLS.format(_FROM_DEFINITION, where), (json_list(wanted), -1))


def with_uid(connection: sqlite3.Connection, uid: str) -> Symbol | None:
    """The definition with this id."""
    try:
        raw = bytes.fromhex(uid)
    except ValueError:
        return None
    if len(raw) != _UID_BYTES:
        return None
    alike = _symbols(connection, _SYMBOLS.format(_FROM_DEFINITION, "uid = ?"), (_shorten(raw), -1))
    return next((symbol for symbol in alike if symbol.uid == raw.hex()), None)


def in_file(connection: sqlite3.Connection, file_id: int, *, limit: int) -> list[Symbol]:
    """Definitions of a file, in order."""
    return _symbols(connection, _SYMBOLS.format(_FROM_FILE, "file_id = ?"), (file_id, limit))


def names_in(connection: sqlite3.Connection, file_id: int) -> list[str]:
    """Names a file defines, in order."""
    first = file_id << _BITS
    rows = connection.execute(
        "SELECT name FROM definitions WHERE id BETWEEN ? AND ? ORDER BY id", (first, first + _FILE - 1)
    )
    return [name for (name,) in rows]


def names_after(connection: sqlite3.Connection, names: list[str], *, gone: set[str], new: set[str]) -> list[str]:
    """The sorted names after some files changed; the same list object if no name came or went."""
    there = connection.execute(
        "SELECT value FROM json_each(?) WHERE value IN (SELECT name FROM definitions WHERE name = value)",
        (json_list(sorted(gone)),),
    )
    gone = gone.difference(name for (name,) in there)
    new = {name for name in new if not _holds(names, name)}
    return sorted([*(name for name in names if name not in gone), *new]) if gone or new else names


def _holds(names: Sequence[str], name: str) -> bool:
    place = bisect_left(names, name)
    return place < len(names) and names[place] == name


def outline(connection: sqlite3.Connection, files: Iterable[int], limit: int) -> list[tuple[int, int, str, str, str]]:
    """Definitions of files, by their numbers: (file, position, name, kind, lexical path)."""
    rows = connection.execute(
        "SELECT definitions.id, name, inside, term FROM json_each(?) AS files CROSS JOIN definitions"
        f" ON {_OF_FILE.format('files.value')} JOIN terms ON term_id = kind LIMIT ?",
        (json_list(sorted(files)), limit),
    ).fetchall()
    paths = _paths(connection, rows)
    return [(number >> _BITS, number % _FILE, name, kind, paths[number]) for number, name, _, kind in rows]


def snapshot(connection: sqlite3.Connection, file_id: int) -> list[tuple[str, str, str, str, int]]:
    """A file's current definitions: (kind, name, lexical path, signature, line)."""
    return [
        (symbol.kind, symbol.name, symbol.path, symbol.signature, symbol.line)
        for symbol in in_file(connection, file_id, limit=-1)
    ]


def _symbols(connection: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> list[Symbol]:
    rows = connection.execute(statement, values).fetchall()
    paths = _paths(connection, rows)
    return [
        Symbol(
            name=name,
            kind=kind,
            path=paths[number],
            signature=signature.hex(),
            ordinal=ordinal,
            line=line,
            file=os.fsdecode(file),
            digest=digest,
            language=language,
            position=number % _FILE,
        )
        for number, name, _, kind, signature, ordinal, line, file, digest, language in rows
    ]


def _paths(connection: sqlite3.Connection, rows: Sequence[_DefinitionRow]) -> dict[int, str]:
    """The lexical path of each definition by number; missing containers are fetched."""
    rows_by_id = {row[0]: row for row in rows}
    further = rows
    while wanted := {(row[0] & _OF_ITS_FILE) + row[2] for row in further if type(row[2]) is int} - rows_by_id.keys():
        further = connection.execute(
            "SELECT id, name, inside FROM definitions WHERE id IN (SELECT value FROM json_each(?))",
            (json_list(wanted),),
        ).fetchall()
        rows_by_id |= {row[0]: row for row in further}
    paths: dict[int, str] = {}
    for number in sorted(rows_by_id):
        _, name, inside, *_ = rows_by_id[number]
        outer = paths.get((number & _OF_ITS_FILE) + inside) if type(inside) is int else inside
        paths[number] = f"{outer}.{name}" if outer else name
    return paths


def json_list(values: Iterable[int] | Iterable[str]) -> str:
    """Encode values for `json_each`."""
    return msgspec.json.encode(list(values)).decode()


def _shorten(uid: bytes) -> int:
    return int.from_bytes(uid[:_UID_KEPT], "big", signed=True)
