"""The facts of all files, found by name, by id and by file; kept by content digest, so they need no epoch."""

import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codeplane.code.facts.version import tables_version
from codeplane.code.model import Facts, unpacked
from codeplane.index import definitions, feed_record, name_postings, terms
from codeplane.index.definitions import Symbol as Symbol
from codeplane.index.derived_database import DerivedDatabase
from codeplane.index.facts_cache import UnpackedFacts
from codeplane.index.files.paths import shown
from codeplane.index.name_postings import Mentions
from codeplane.index.page_packing import fitted
from codeplane.index.parse_worker import LEFT_OUT, SYNTAX_ERROR, Parsed
from codeplane.index.path_key import AT, at
from codeplane.kernel.errors import StorageFailed

_SCHEMA = (
    """CREATE TABLE parsed(
        file_id INTEGER PRIMARY KEY, path_key INTEGER, path BLOB, digest BLOB, language INTEGER, epoch INTEGER,
        problem TEXT, facts BLOB)""",
    "CREATE INDEX parsed_by_path ON parsed(path_key)",
    definitions.SCHEMA,
    *definitions.INDEXES.values(),
    terms.SCHEMA,
    name_postings.SCHEMA,
    *feed_record.SCHEMA,
    """CREATE TABLE snapshots(
        file_path BLOB, since INTEGER, until INTEGER, rows BLOB, PRIMARY KEY(file_path, since)) WITHOUT ROWID""",
)
_KEPT_EPOCHS = 1000
_CACHED_BYTES = 96 * 1024 * 1024
# What is unpacked before anyone asks leaves room for what they ask for.
_WARM_BYTES = _CACHED_BYTES * 9 // 10
_AT_ONCE, _PAUSE_SEC = 16, 0.02
# What facts take in memory, with what is derived of them, to what they are packed.
_UNPACKED = 8
_MANY = 200
# What a row of a file holds beside its path and its facts.
_BESIDE = 35
_PROBLEMS = {"not parsed": "", "with syntax errors": SYNTAX_ERROR, "with definitions left out": LEFT_OUT}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileParsed:
    """A file's parse with what the asker knows of the file."""

    path: str
    digest: str
    language: str
    parsed: Parsed


class FactStore:
    """SQLite with every file's facts; one writer, any number of readers."""

    def __init__(self, path: Path) -> None:
        self._database = DerivedDatabase(path, version=tables_version(), schema=_SCHEMA)
        self._reader = self._database.connect()
        self._lock = threading.Lock()
        self._unpacked = UnpackedFacts(max_bytes=_CACHED_BYTES)
        self._mentions = Mentions()
        self._is_filling = False
        # Why what is kept cannot be read, once that was noticed, until it is made again.
        self.damaged: str | None = None
        self._index()
        self.version = 0
        self._names: tuple[int, list[str]] = (-1, [])
        self._problems: tuple[int, dict[str, int]] = (-1, {})
        self._definitions: tuple[int, int] = (-1, 0)

    @property
    def remade(self) -> str | None:
        """Why the file was begun anew, if it was."""
        return self._database.remade

    def remake(self, why: str) -> None:
        """Throw everything away and begin anew."""
        with self._lock:
            self._reader.close()
            self._database.remake(why)
            self._reader = self._database.connect()
            self._unpacked.clear()
            self._mentions.clear()
            self.damaged = None
            self.version += 1

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._reader.close()
        self._database.close()

    def digests(self) -> dict[str, str]:
        """Each parsed file and the content its facts speak of."""
        rows = self._database.connection.execute("SELECT path, digest FROM parsed")
        return {os.fsdecode(path): digest.hex() for path, digest in rows}

    def fed(self, epoch: int | None) -> dict[str, str]:
        """What the full text holds if its last commit was this one; nothing if it was another."""
        return feed_record.fed(self._database.connection, epoch)

    def feed(self, added: Mapping[str, str], removed: Iterable[str], *, epoch: int, anew: bool) -> None:
        """Note what was fed, after the full text has committed it."""
        connection = self._database.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            feed_record.feed(connection, added, removed, epoch=epoch, anew=anew)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def names_in(self, path: str) -> list[str]:
        """The names a file defines, in their order."""
        connection = self._database.connection
        found = _number(connection, os.fsencode(path))
        return definitions.names_in(connection, found) if found is not None else []

    def problems(self) -> dict[str, str]:
        """The files whose facts are partial or none, and why."""
        rows = self._read("SELECT path, problem FROM parsed WHERE problem != ''")
        return {os.fsdecode(path): problem for path, problem in rows}

    def problem_counts(self) -> dict[str, int]:
        """How many files are known only in part or not at all, by why; kept until something changes."""
        version, held = self._problems
        if version != self.version:
            version, held = self.version, {}
            for problem, count in self._read(
                "SELECT CASE facts WHEN x'' THEN '' ELSE problem END AS why, COUNT(*)"
                " FROM parsed WHERE problem != '' GROUP BY why"
            ):
                for name, told in _PROBLEMS.items():
                    if bool(problem) == bool(told) and told in problem:
                        held[name] = held.get(name, 0) + count
            self._problems = (version, held)
        return held

    def definition_count(self) -> int:
        """How many definitions are known; kept until something changes."""
        version, count = self._definitions
        if version != self.version:
            version = self.version
            count = int(self._read("SELECT COUNT(*) FROM definitions")[0][0])
            self._definitions = (version, count)
        return count

    def kinds(self) -> list[str]:
        """Every kind of definition there is."""
        return [
            kind
            for (kind,) in self._read(
                "SELECT term FROM terms WHERE term_id IN (SELECT kind FROM definitions) ORDER BY term"
            )
        ]

    def put(self, files: Sequence[FileParsed], *, removed: Iterable[str] = (), epoch: int) -> None:
        """Replace the facts of some files in one transaction."""
        connection = self._database.connection
        version, held = self._names
        follows = version == self.version and len(files) < _MANY
        connection.execute("BEGIN IMMEDIATE")
        try:
            paths = [*removed, *(one.path for one in files)]
            before = {name for path in paths for name in self.names_in(path)} if follows else set()
            for path in paths:
                self._forget(os.fsencode(path), epoch)
            if files:
                files = _fitted(files)
                # A number is never given twice, since segments of names go on speaking of the dead.
                (first,) = connection.execute("SELECT 1 + COALESCE(MAX(last), 0) FROM names").fetchone()
                with self.filling(len(files)):
                    self._write(files, first, epoch)
                name_postings.add(connection, [(first + place, one.parsed.names) for place, one in enumerate(files)])
            if follows:
                after = {row.name for one in files for row in one.parsed.rows}
                held = definitions.names_after(connection, held, gone=before - after, new=after - before)
            connection.execute("DELETE FROM snapshots WHERE until <= ?", (epoch - _KEPT_EPOCHS,))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self.version += 1
        if follows:
            self._names = (self.version, held)

    @contextmanager
    def filling(self, files: int) -> Iterator[None]:
        """Where most of the files are still to be written, do it without indexes, which are made once they are there.

        Until then who asks by name or id reads the whole table. What is left without them, by an error or by a process
        that ended, gets them when it is opened or filled again.
        """
        connection = self._database.connection
        (known,) = connection.execute("SELECT COUNT(*) FROM parsed").fetchone()
        if not self._is_filling and files >= _MANY and files > known:
            for name in definitions.INDEXES:
                connection.execute(f"DROP INDEX IF EXISTS {name}")
            self._is_filling = True
            try:
                yield
            finally:
                self._is_filling = False
            self._index()
        else:
            if not self._is_filling:
                self._index()
            yield

    def copy_to(self, path: Path) -> int:
        """Write a copy of everything to a new file, and say how many files it speaks of."""
        with self._lock:
            self._reader.execute("VACUUM INTO ?", (str(path),))
            (count,) = self._reader.execute("SELECT COUNT(*) FROM parsed").fetchone()
        return int(count)

    def facts(self, path: str, digest: str, *, keep: bool = True) -> Facts | None:
        """The facts of a file with this very content, or None while there are none; kept for the next who asks."""
        if (held := self._unpacked.get(path, digest)) is not None:
            return held
        rows = self._read(
            f"SELECT facts FROM parsed WHERE {AT} AND digest = ?", (*at(os.fsencode(path)), bytes.fromhex(digest))
        )
        if not rows or not rows[0][0]:
            return None
        try:
            raw = zlib.decompress(rows[0][0])
            facts = unpacked(raw)
        except (zlib.error, msgspec.MsgspecError, TypeError) as error:
            raise self._broken(f"those of {shown(path)}: {error}") from error
        if keep:
            self._unpacked.put(path, digest, facts, size=len(raw) * _UNPACKED)
        return facts

    def warm(self, files: Iterable[tuple[str, str]], *, stop: Callable[[], bool]) -> None:
        """Unpack the facts of some files before anyone asks, until there is no more room for them.

        A few at a time: questions that come meanwhile wait for no more than these.
        """
        for number, (path, digest) in enumerate(files):
            if number % _AT_ONCE == 0:
                if stop():
                    return
                time.sleep(_PAUSE_SEC)
            if self._unpacked.size >= _WARM_BYTES:
                return
            self.facts(path, digest)

    @property
    def unpacked(self) -> int:
        """Of how many files the facts are ready to be read."""
        return len(self._unpacked)

    def named(self, name: str, *, limit: int) -> list[Symbol]:
        """Definitions of a name, in the order of files and places."""
        with self._reading():
            return definitions.named(self._reader, name, limit=limit)

    def named_any(self, wanted: Sequence[str], *, limit: int) -> dict[str, list[Symbol]]:
        """The same for many names, asked for at once: up to so many of each that is defined."""
        with self._reading():
            symbols = definitions.named_any(self._reader, wanted)
        found: dict[str, list[Symbol]] = {}
        for one in symbols:
            listed = found.setdefault(one.name, [])
            if len(listed) < limit:
                listed.append(one)
        return found

    def with_uid(self, uid: str) -> Symbol | None:
        """The definition with this id."""
        with self._reading():
            return definitions.with_uid(self._reader, uid)

    def in_file(self, path: str, *, limit: int) -> list[Symbol]:
        """Definitions of a file, in their order."""
        with self._reading():
            found = _number(self._reader, os.fsencode(path))
            return definitions.in_file(self._reader, found, limit=limit) if found is not None else []

    def all_names(self) -> list[str]:
        """Every name that is defined somewhere, sorted; the same list until a name comes or goes."""
        version, held = self._names
        if version != self.version:
            version = self.version
            held = [name for (name,) in self._read("SELECT DISTINCT name FROM definitions ORDER BY name")]
            self._names = (version, held)
        return held

    def files_with(self, name: str) -> list[tuple[str, str]]:
        """The code files in which an identifier occurs, with the content that was looked at."""
        with self._reading():
            (ids,) = self._mentions.of(self._reader, (name,))
            rows = self._reader.execute(
                "SELECT path, digest FROM parsed WHERE file_id IN (SELECT value FROM json_each(?))",
                (definitions.listed(ids.tolist()),),
            ).fetchall()
        return sorted((os.fsdecode(path), digest.hex()) for path, digest in rows)

    def parsed_files(self) -> list[tuple[int, str, str]]:
        """Every parsed file: its number here, its path and the content its facts speak of; in the order of paths."""
        rows = self._read("SELECT file_id, path, digest FROM parsed ORDER BY path")
        return [(file_id, os.fsdecode(path), digest.hex()) for file_id, path, digest in rows]

    def outline(self, files: Sequence[int], *, limit: int) -> list[tuple[int, int, str, str, str]]:
        """Definitions of files, by their numbers: (file, position, name, kind, lexical path)."""
        with self._reading():
            return definitions.outline(self._reader, files, limit)

    def most_defined(self, kind: str, *, limit: int) -> list[str]:
        """Names of a kind, those with the most definitions first."""
        rows = self._read(
            "SELECT name FROM definitions WHERE kind = (SELECT term_id FROM terms WHERE term = ?)"
            " GROUP BY name ORDER BY count(*) DESC, name LIMIT ?",
            (kind, limit),
        )
        return [name for (name,) in rows]

    def postings(self, wanted: Sequence[str]) -> list[tuple[str, bytes]]:
        """Of each name that occurs, the numbers of its files, as packed unsigned 32-bit integers.

        Among them are numbers that files had before they were written again: nobody has those now.
        """
        with self._reading():
            found = self._mentions.of(self._reader, wanted)
        return [(name, ids.tobytes()) for name, ids in zip(wanted, found, strict=True) if len(ids)]

    def snapshot(self, path: str, epoch: int) -> tuple[tuple[object, ...], ...] | None:
        """A file's definitions as they were at an epoch: (kind, name, lexical path, signature, line), or None."""
        raw = os.fsencode(path)
        with self._reading():
            row = self._reader.execute(
                f"SELECT file_id FROM parsed WHERE {AT} AND epoch <= ?", (*at(raw), epoch)
            ).fetchone()
            if row is not None:
                return tuple(definitions.snapshot(self._reader, row[0]))
        past = self._read(
            "SELECT rows FROM snapshots WHERE file_path = ? AND since <= ? AND until > ?", (raw, epoch, epoch)
        )
        if not past:
            return None
        return tuple(map(tuple, msgspec.json.decode(zlib.decompress(past[0][0]))))

    def first_epoch(self, epoch: int) -> int:
        """The first epoch that can still be told of at this one; a later one when there is none."""
        ((known, past),) = self._read("SELECT (SELECT MIN(epoch) FROM parsed), (SELECT MIN(since) FROM snapshots)")
        first = min((one for one in (known, past) if one is not None), default=epoch + 1)
        return max(int(first), epoch - _KEPT_EPOCHS + 1)

    def at_epoch(self, epoch: int) -> dict[str, tuple[int, str]]:
        """The files that had definitions at an epoch: since when they were so, and their language now or empty."""
        rows = self._read(
            "SELECT file_path, since, '' FROM snapshots WHERE since <= ? AND until > ?"
            " UNION ALL SELECT path, epoch, term FROM parsed JOIN terms ON term_id = language WHERE epoch <= ?",
            (epoch, epoch, epoch),
        )
        return {os.fsdecode(path): (since, language) for path, since, language in rows}

    def _index(self) -> None:
        for statement in definitions.INDEXES.values():
            self._database.connection.execute(statement)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Let several questions of the reader see the same state; what turns out damaged is noted."""
        with self._lock:
            try:
                self._reader.execute("BEGIN")
                try:
                    yield
                finally:
                    if self._reader.in_transaction:
                        self._reader.execute("COMMIT")
            except sqlite3.ProgrammingError:
                raise
            except sqlite3.DatabaseError as error:
                if "locked" in str(error):
                    raise
                raise self._broken(str(error)) from error

    def _write(self, files: Sequence[FileParsed], first: int, epoch: int) -> None:
        connection = self._database.connection
        spoken = terms.numbered(connection, {one.language for one in files})
        connection.executemany(
            "INSERT INTO parsed VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    number,
                    *at(os.fsencode(one.path)),
                    bytes.fromhex(one.digest),
                    spoken[one.language],
                    epoch,
                    one.parsed.problem,
                    one.parsed.facts,
                )
                for number, one in enumerate(files, first)
            ),
        )
        definitions.add(connection, [(number, one.parsed.rows) for number, one in enumerate(files, first)])

    def _forget(self, path: bytes, epoch: int) -> None:
        """Take a file's facts out and keep its definitions as what they were until now."""
        connection = self._database.connection
        row = connection.execute(f"SELECT file_id, epoch FROM parsed WHERE {AT}", at(path)).fetchone()
        if row is None:
            return
        file_id, since = row
        if since < epoch:
            rows = definitions.snapshot(connection, file_id)
            connection.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)",
                (path, since, epoch, zlib.compress(msgspec.json.encode(rows), 1)),
            )
        feed_record.part(connection, file_id)
        definitions.remove(connection, file_id)
        connection.execute("DELETE FROM parsed WHERE file_id = ?", (file_id,))

    def _read(self, statement: str, values: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._reading():
            return self._reader.execute(statement, tuple(values)).fetchall()

    def _broken(self, why: str) -> StorageFailed:
        """Note that what is kept cannot be read, for whoever can make it again; what a question is told."""
        self.damaged = why
        return StorageFailed(f"the facts are damaged and are made again: {why}", hint="call again in a moment")


def _number(connection: sqlite3.Connection, path: bytes) -> int | None:
    row = connection.execute(f"SELECT file_id FROM parsed WHERE {AT}", at(path)).fetchone()
    return None if row is None else int(row[0])


def _fitted(files: Sequence[FileParsed]) -> list[FileParsed]:
    """The files in an order in which their facts fill pages: they are what takes most room."""
    return [files[place] for place in fitted([len(one.parsed.facts) + len(one.path) + _BESIDE for one in files])]
