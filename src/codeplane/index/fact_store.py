"""The store of all files' facts, found by name, id or file, and keyed by content digest."""

import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from codeplane.code.facts.version import tables_version
from codeplane.code.model import Facts, unpack_facts
from codeplane.index import definition_history, definitions, feed_record, name_postings, parsed_table, terms
from codeplane.index.definitions import Symbol as Symbol
from codeplane.index.derived_database import DerivedDatabase
from codeplane.index.facts_cache import FactsCache
from codeplane.index.files.paths import path_text
from codeplane.index.name_postings import NamePostings
from codeplane.index.parse_worker import LEFT_OUT, SYNTAX_ERROR
from codeplane.index.parsed_table import ParsedFile
from codeplane.index.path_key import AT, at
from codeplane.kernel.errors import StorageFailed

_SCHEMA = (
    *parsed_table.SCHEMA,
    definitions.SCHEMA,
    *definitions.INDEXES.values(),
    terms.SCHEMA,
    name_postings.SCHEMA,
    *feed_record.SCHEMA,
    definition_history.SCHEMA,
)
_CACHED_BYTES = 96 * 1024 * 1024
# What is unpacked before anyone asks leaves room for what they ask for.
_WARM_BYTES = _CACHED_BYTES * 9 // 10
_AT_ONCE, _PAUSE_SEC = 16, 0.02
# What facts take in memory, with what is derived of them, to what they are packed.
_UNPACKED = 8
_MANY = 200
_MAX_EXPECTED = 64 * 1024 * 1024
_PROBLEMS = {"not parsed": "", "with syntax errors": SYNTAX_ERROR, "with definitions left out": LEFT_OUT}


class FactStore:
    """SQLite with every file's facts; one writer, many readers."""

    def __init__(self, path: Path) -> None:
        self._database = DerivedDatabase(path, version=tables_version(), schema=_SCHEMA)
        self._reader = self._database.connect()
        self._lock = threading.Lock()
        self._unpacked = FactsCache(max_bytes=_CACHED_BYTES)
        self._mentions = NamePostings()
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
        """Why the file was recreated, if it was."""
        return self._database.remade

    def remake(self, why: str) -> None:
        """Delete everything and start over."""
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

    @property
    def is_idle(self) -> bool:
        """Whether a read would not wait for another one."""
        return not self._lock.locked()

    def digests(self) -> dict[str, str]:
        """The digest of each parsed file's content."""
        rows = self._database.connection.execute("SELECT path, digest FROM parsed")
        return {os.fsdecode(path): digest.hex() for path, digest in rows}

    def fed_files(self, epoch: int | None) -> dict[str, str]:
        """The files in the full text if its last commit was this epoch; empty otherwise."""
        return feed_record.load_feed(self._database.connection, epoch)

    def feed(self, added: Mapping[str, str], removed: Iterable[str], *, epoch: int, anew: bool) -> None:
        """Record what the full text has committed."""
        connection = self._database.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            feed_record.record_feed(connection, added, removed, epoch=epoch, anew=anew)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def names_in(self, path: str) -> list[str]:
        """Names a file defines, in order."""
        connection = self._database.connection
        file_id = parsed_table.file_id_of(connection, os.fsencode(path))
        return definitions.names_in(connection, file_id) if file_id is not None else []

    def parsed_digests(self) -> dict[str, str]:
        """The digest of each parsed file's content, as readers see it while others write."""
        rows = self._read("SELECT path, digest FROM parsed")
        return {os.fsdecode(path): digest.hex() for path, digest in rows}

    def problems(self) -> dict[str, str]:
        """Files with partial or no facts, and why."""
        rows = self._read("SELECT path, problem FROM parsed WHERE problem != ''")
        return {os.fsdecode(path): problem for path, problem in rows}

    def problem_counts(self) -> dict[str, int]:
        """The number of files with partial or no facts, by reason; cached until something changes."""
        version, held = self._problems
        if version != self.version:
            version, held = self.version, {}
            for problem, count in self._read(
                "SELECT CASE facts WHEN x'' THEN '' ELSE problem END AS why, COUNT(*)"
                " FROM parsed WHERE problem != '' GROUP BY why"
            ):
                for name, marker in _PROBLEMS.items():
                    if bool(problem) == bool(marker) and marker in problem:
                        held[name] = held.get(name, 0) + count
            self._problems = (version, held)
        return held

    def definition_count(self) -> int:
        """The number of definitions; cached until something changes."""
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

    def put(self, files: Sequence[ParsedFile], *, removed: Iterable[str] = (), epoch: int) -> None:
        """Replace the facts of some files in one transaction."""
        connection = self._database.connection
        version, held = self._names
        follows = version == self.version and len(files) < _MANY
        connection.execute("BEGIN IMMEDIATE")
        try:
            paths = [*removed, *(file.path for file in files)]
            before = {name for path in paths for name in self.names_in(path)} if follows else set()
            for path in paths:
                parsed_table.remove(connection, os.fsencode(path), epoch)
            if files:
                files = parsed_table.order_for_pages(files)
                # A number is never given twice, since segments of names go on speaking of the dead.
                (first,) = connection.execute("SELECT 1 + COALESCE(MAX(last), 0) FROM names").fetchone()
                with self.bulk_load(len(files)):
                    parsed_table.add(connection, files, first=first, epoch=epoch)
                name_postings.add(connection, [(first + place, file.parsed.names) for place, file in enumerate(files)])
            if follows:
                after = {row.name for file in files for row in file.parsed.rows}
                held = definitions.names_after(connection, held, gone=before - after, new=after - before)
            definition_history.prune(connection, epoch)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self.version += 1
        if follows:
            self._names = (self.version, held)

    @contextmanager
    def bulk_load(self, files: int) -> Iterator[None]:
        """Drop the indexes while most of the files are being written, and create them afterwards.

        Until then a query by name or id reads the whole table. What is left without them, by an error or by a process
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
        """Copy the database to a new file and return the number of parsed files."""
        with self._lock:
            self._reader.execute("VACUUM INTO ?", (str(path),))
            (count,) = self._reader.execute("SELECT COUNT(*) FROM parsed").fetchone()
        return int(count)

    def facts(self, path: str, digest: str, *, keep: bool = True) -> Facts | None:
        """The facts of a file with this content, or None; cached unless `keep` is false."""
        if (held := self._unpacked.get(path, digest)) is not None:
            return held
        rows = self._read(
            f"SELECT facts FROM parsed WHERE {AT} AND digest = ?", (*at(os.fsencode(path)), bytes.fromhex(digest))
        )
        if not rows or not rows[0][0]:
            return None
        try:
            raw = zlib.decompress(rows[0][0])
            facts = unpack_facts(raw)
        except (zlib.error, msgspec.MsgspecError, TypeError) as error:
            raise self._note_damage(f"those of {path_text(path)}: {error}") from error
        if keep:
            self._unpacked.put(path, digest, facts, size=len(raw) * _UNPACKED)
        return facts

    def expect(self, path: str, digest: str, packed: bytes) -> Facts:
        """Unpack the facts that a file is about to have, and cache them for the next query."""
        raw = zlib.decompressobj().decompress(packed, _MAX_EXPECTED)
        facts = unpack_facts(raw)
        self._unpacked.put(path, digest, facts, size=len(raw) * _UNPACKED)
        return facts

    def warm(self, files: Iterable[tuple[str, str]], *, stop: Callable[[], bool]) -> None:
        """Unpack the facts of some files into the cache ahead of use, until it is nearly full.

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
        """The number of files whose facts are cached."""
        return len(self._unpacked)

    def find_symbols(self, name: str, *, limit: int) -> list[Symbol]:
        """Definitions with a name, ordered by file and position."""
        with self._read_transaction():
            return definitions.find_named(self._reader, name, limit=limit)

    def named_any(self, wanted: Sequence[str], *, limit: int) -> dict[str, list[Symbol]]:
        """Definitions of several names in one query, up to `limit` each."""
        with self._read_transaction():
            symbols = definitions.named_any(self._reader, wanted)
        by_name: dict[str, list[Symbol]] = {}
        for symbol in symbols:
            listed = by_name.setdefault(symbol.name, [])
            if len(listed) < limit:
                listed.append(symbol)
        return by_name

    def with_uid(self, uid: str) -> Symbol | None:
        """The definition with this id."""
        with self._read_transaction():
            return definitions.with_uid(self._reader, uid)

    def in_file(self, path: str, *, limit: int) -> list[Symbol]:
        """Definitions of a file, in order."""
        with self._read_transaction():
            file_id = parsed_table.file_id_of(self._reader, os.fsencode(path))
            return definitions.in_file(self._reader, file_id, limit=limit) if file_id is not None else []

    def all_names(self) -> list[str]:
        """All defined names, sorted; the same list object until a name comes or goes."""
        version, held = self._names
        if version != self.version:
            version = self.version
            held = [name for (name,) in self._read("SELECT DISTINCT name FROM definitions ORDER BY name")]
            self._names = (version, held)
        return held

    def files_with(self, name: str) -> list[tuple[str, str]]:
        """The code files in which an identifier occurs, with their digests."""
        with self._read_transaction():
            (ids,) = self._mentions.of(self._reader, (name,))
            rows = self._reader.execute(
                "SELECT path, digest FROM parsed WHERE file_id IN (SELECT value FROM json_each(?))",
                (definitions.json_list(ids.tolist()),),
            ).fetchall()
        return sorted((os.fsdecode(path), digest.hex()) for path, digest in rows)

    def parsed_files(self) -> list[tuple[int, str, str]]:
        """Every parsed file's number, path and digest, ordered by path."""
        rows = self._read("SELECT file_id, path, digest FROM parsed ORDER BY path")
        return [(file_id, os.fsdecode(path), digest.hex()) for file_id, path, digest in rows]

    def outline(self, files: Sequence[int], *, limit: int) -> list[tuple[int, int, str, str, str]]:
        """Definitions of files, by their numbers: (file, position, name, kind, lexical path)."""
        with self._read_transaction():
            return definitions.outline(self._reader, files, limit)

    def most_common_names(self, kind: str, *, limit: int) -> list[str]:
        """Names of a kind, those with the most definitions first."""
        rows = self._read(
            "SELECT name FROM definitions WHERE kind = (SELECT term_id FROM terms WHERE term = ?)"
            " GROUP BY name ORDER BY count(*) DESC, name LIMIT ?",
            (kind, limit),
        )
        return [name for (name,) in rows]

    def postings(self, wanted: Sequence[str]) -> list[tuple[str, bytes]]:
        """For each name that occurs, its files' numbers as packed unsigned 32-bit integers.

        Among them are numbers that files had before they were written again: nobody has those now.
        """
        with self._read_transaction():
            postings = self._mentions.of(self._reader, wanted)
        return [(name, ids.tobytes()) for name, ids in zip(wanted, postings, strict=True) if len(ids)]

    def snapshot(self, path: str, epoch: int) -> tuple[tuple[object, ...], ...] | None:
        """A file's definitions as they were at an epoch: (kind, name, lexical path, signature, line), or None."""
        raw = os.fsencode(path)
        with self._read_transaction():
            row = self._reader.execute(
                f"SELECT file_id FROM parsed WHERE {AT} AND epoch <= ?", (*at(raw), epoch)
            ).fetchone()
            if row is not None:
                return tuple(definitions.snapshot(self._reader, row[0]))
            return definition_history.load(self._reader, raw, epoch)

    def first_epoch(self, epoch: int) -> int:
        """The earliest epoch with stored definitions; a later one than `epoch` if there is none."""
        with self._read_transaction():
            return definition_history.first_epoch(self._reader, epoch)

    def at_epoch(self, epoch: int) -> dict[str, tuple[int, str]]:
        """Files with definitions at an epoch: the epoch they date from, and their present language or nothing."""
        with self._read_transaction():
            return definition_history.files_at(self._reader, epoch)

    def _index(self) -> None:
        for statement in definitions.INDEXES.values():
            self._database.connection.execute(statement)

    @contextmanager
    def _read_transaction(self) -> Iterator[None]:
        """Give several reads one transaction."""
        with self._reading():
            self._reader.execute("BEGIN")
            try:
                yield
            finally:
                if self._reader.in_transaction:
                    self._reader.execute("COMMIT")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the reader, and note damage."""
        with self._lock:
            try:
                yield
            except sqlite3.ProgrammingError:
                raise
            except sqlite3.DatabaseError as error:
                if "locked" in str(error):
                    raise
                raise self._note_damage(str(error)) from error

    def _read(self, statement: str, values: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        # One statement is a transaction of its own: to begin and end one takes as long as most of them.
        with self._reading():
            return self._reader.execute(statement, tuple(values)).fetchall()

    def _note_damage(self, why: str) -> StorageFailed:
        """Note that the store is damaged, and return the error for the caller."""
        self.damaged = why
        return StorageFailed(f"the facts are damaged and are made again: {why}", hint="call again in a moment")
