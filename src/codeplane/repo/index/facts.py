"""The facts of all files, found by name, by id and by file; kept by content digest, so they need no epoch."""

import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codeplane.repo.facts.language import tables_version
from codeplane.repo.facts.model import Facts, unpacked
from codeplane.repo.index import names
from codeplane.repo.index.derived import DerivedDatabase
from codeplane.repo.index.names import Mentions
from codeplane.repo.index.worker import LEFT_OUT, SYNTAX_ERROR, Parsed, Row

_INDEXES = {
    "definitions_by_name": "CREATE INDEX IF NOT EXISTS definitions_by_name ON definitions(name)",
    "definitions_by_uid": "CREATE INDEX IF NOT EXISTS definitions_by_uid ON definitions(uid)",
}
_SCHEMA = (
    """CREATE TABLE parsed(
        file_id INTEGER PRIMARY KEY, path BLOB UNIQUE, digest TEXT, language TEXT, epoch INTEGER, problem TEXT,
        facts BLOB)""",
    """CREATE TABLE definitions(
        file_id INTEGER, position INTEGER, uid BLOB, name TEXT, kind TEXT, inside TEXT, signature TEXT, line INTEGER,
        path TEXT AS (CASE inside WHEN '' THEN name ELSE inside || '.' || name END),
        PRIMARY KEY(file_id, position)) WITHOUT ROWID""",
    *_INDEXES.values(),
    names.SCHEMA,
    # What the full text was fed, and the commit of it this speaks of.
    "CREATE TABLE fed(path BLOB PRIMARY KEY, digest TEXT) WITHOUT ROWID",
    "CREATE TABLE fed_until(epoch INTEGER)",
    """CREATE TABLE snapshots(
        file_path BLOB, since INTEGER, until INTEGER, rows BLOB, PRIMARY KEY(file_path, since)) WITHOUT ROWID""",
)
_KEPT_EPOCHS = 1000
_CACHED_BYTES = 96 * 1024 * 1024
# What facts take in memory, with what is derived of them, to what they are packed.
_UNPACKED = 10
_MANY = 200
_PROBLEMS = {"not parsed": "", "with syntax errors": SYNTAX_ERROR, "with definitions left out": LEFT_OUT}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileParsed:
    """A file's parse with what the asker knows of the file."""

    path: str
    digest: str
    language: str
    parsed: Parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A definition as it is looked up: enough to list it, and where its facts are."""

    uid: str
    name: str
    kind: str
    path: str
    signature: str
    line: int
    file: str
    digest: str
    language: str
    position: int


class FactStore:
    """SQLite with every file's facts; one writer, any number of readers."""

    def __init__(self, path: Path) -> None:
        self._database = DerivedDatabase(path, version=tables_version(), schema=_SCHEMA)
        self._reader = self._database.connect()
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[str, str], tuple[int, Facts]] = OrderedDict()
        self._cached = 0
        self._mentions = Mentions()
        self._is_filling = False
        self._index()
        self.version = 0
        self._names: tuple[int, list[str]] = (-1, [])
        self._problems: tuple[int, dict[str, int]] = (-1, {})

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
            self._cache.clear()
            self._cached = 0
            self._mentions.clear()
            self.version += 1

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._reader.close()
        self._database.close()

    def digests(self) -> dict[str, str]:
        """Each parsed file and the content its facts speak of."""
        rows = self._database.connection.execute("SELECT path, digest FROM parsed")
        return {os.fsdecode(path): digest for path, digest in rows}

    def fed(self, epoch: int | None) -> dict[str, str]:
        """What the full text holds if its last commit was this one; nothing if it was another."""
        connection = self._database.connection
        if epoch is None or connection.execute("SELECT epoch FROM fed_until").fetchone() != (epoch,):
            return {}
        return {os.fsdecode(path): digest for path, digest in connection.execute("SELECT path, digest FROM fed")}

    def feed(self, added: Mapping[str, str], removed: Iterable[str], *, epoch: int, anew: bool) -> None:
        """Note what was fed, after the full text has committed it."""
        connection = self._database.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.execute("DELETE FROM fed_until")
            if anew:
                connection.execute("DELETE FROM fed")
            connection.executemany("DELETE FROM fed WHERE path = ?", ((os.fsencode(path),) for path in removed))
            connection.executemany(
                "INSERT OR REPLACE INTO fed VALUES (?, ?)",
                ((os.fsencode(path), digest) for path, digest in added.items()),
            )
            connection.execute("INSERT INTO fed_until VALUES (?)", (epoch,))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def names_in(self, path: str) -> list[str]:
        """The names a file defines, in their order."""
        rows = self._database.connection.execute(
            "SELECT name FROM definitions JOIN parsed USING (file_id) WHERE parsed.path = ? ORDER BY position",
            (os.fsencode(path),),
        )
        return [name for (name,) in rows]

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

    def kinds(self) -> list[str]:
        """Every kind of definition there is."""
        return [kind for (kind,) in self._read("SELECT DISTINCT kind FROM definitions ORDER BY kind")]

    def put(self, files: Sequence[FileParsed], *, removed: Iterable[str] = (), epoch: int) -> None:
        """Replace the facts of some files in one transaction."""
        connection = self._database.connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            for path in removed:
                self._forget(os.fsencode(path), epoch)
            for one in files:
                self._forget(os.fsencode(one.path), epoch)
            if files:
                # A number is never given twice, since segments of names go on speaking of the dead.
                (first,) = connection.execute("SELECT 1 + COALESCE(MAX(last), 0) FROM names").fetchone()
                with self.filling(len(files)):
                    self._write(files, first, epoch)
                names.add(connection, [(first + place, one.parsed.names) for place, one in enumerate(files)])
            connection.execute("DELETE FROM snapshots WHERE until <= ?", (epoch - _KEPT_EPOCHS,))
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self.version += 1

    @contextmanager
    def filling(self, files: int) -> Iterator[None]:
        """Where most of the files are still to be written, do it without indexes, which are made once they are there.

        Until then who asks by name or id reads the whole table. What is left without them, by an error or by a process
        that ended, gets them when it is opened or filled again.
        """
        connection = self._database.connection
        (known,) = connection.execute("SELECT COUNT(*) FROM parsed").fetchone()
        if not self._is_filling and files >= _MANY and files > known:
            for name in _INDEXES:
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
        key = (path, digest)
        with self._lock:
            held = self._cache.get(key)
            if held is not None:
                self._cache.move_to_end(key)
                return held[1]
            row = self._reader.execute(
                "SELECT facts FROM parsed WHERE path = ? AND digest = ?", (os.fsencode(path), digest)
            ).fetchone()
        if row is None or not row[0]:
            return None
        raw = zlib.decompress(row[0])
        facts = unpacked(raw)
        if not keep:
            return facts
        with self._lock:
            if key not in self._cache:
                self._cache[key] = (len(raw) * _UNPACKED, facts)
                self._cached += len(raw) * _UNPACKED
            while self._cached > _CACHED_BYTES:
                _, (size, _facts) = self._cache.popitem(last=False)
                self._cached -= size
        return facts

    def named(self, name: str, *, limit: int) -> list[Symbol]:
        """Definitions of a name, in the order of files and places."""
        return self._symbols("definitions.name = ?", (name,), limit)

    def named_any(self, wanted: Sequence[str], *, limit: int) -> dict[str, list[Symbol]]:
        """The same for many names, asked for at once: up to so many of each that is defined."""
        found: dict[str, list[Symbol]] = {}
        for one in self._symbols("definitions.name IN (SELECT value FROM json_each(?))", (_encoded(wanted),), -1):
            listed = found.setdefault(one.name, [])
            if len(listed) < limit:
                listed.append(one)
        return found

    def with_uid(self, uid: str) -> Symbol | None:
        """The definition with this id."""
        try:
            raw = bytes.fromhex(uid)
        except ValueError:
            return None
        return next(iter(self._symbols("definitions.uid = ?", (raw,), 1)), None)

    def in_file(self, path: str, *, limit: int) -> list[Symbol]:
        """Definitions of a file, in their order."""
        return self._symbols("parsed.path = ?", (os.fsencode(path),), limit)

    def all_names(self) -> list[str]:
        """Every name that is defined somewhere, sorted; kept until something changes."""
        version, held = self._names
        if version != self.version:
            version = self.version
            held = [name for (name,) in self._read("SELECT DISTINCT name FROM definitions ORDER BY name")]
            self._names = (version, held)
        return held

    def files_with(self, name: str) -> list[tuple[str, str]]:
        """The code files in which an identifier occurs, with the content that was looked at."""
        with self._lock, self._at_one_moment():
            (ids,) = self._mentions.of(self._reader, (name,))
            rows = self._reader.execute(
                "SELECT path, digest FROM parsed WHERE file_id IN (SELECT value FROM json_each(?))", (_listed(ids),)
            ).fetchall()
        return sorted((os.fsdecode(path), digest) for path, digest in rows)

    def parsed_files(self) -> list[tuple[int, str, str]]:
        """Every parsed file: its number here, its path and the content its facts speak of; in the order of paths."""
        rows = self._read("SELECT file_id, path, digest FROM parsed ORDER BY path")
        return [(file_id, os.fsdecode(path), digest) for file_id, path, digest in rows]

    def outline(self, files: Sequence[int], *, limit: int) -> list[tuple[int, int, str, str, str]]:
        """Definitions of files, by their numbers: (file, position, name, kind, lexical path)."""
        return self._read(
            "SELECT file_id, position, name, kind, path FROM definitions"
            " WHERE file_id IN (SELECT value FROM json_each(?)) LIMIT ?",
            (_listed(files), limit),
        )

    def most_defined(self, kind: str, *, limit: int) -> list[str]:
        """Names of a kind, those with the most definitions first."""
        rows = self._read(
            "SELECT name FROM definitions WHERE kind = ? GROUP BY name ORDER BY count(*) DESC, name LIMIT ?",
            (kind, limit),
        )
        return [name for (name,) in rows]

    def postings(self, wanted: Sequence[str]) -> list[tuple[str, bytes]]:
        """Of each name that occurs, the numbers of its files, as packed unsigned 32-bit integers.

        Among them are numbers that files had before they were written again: nobody has those now.
        """
        with self._lock, self._at_one_moment():
            found = self._mentions.of(self._reader, wanted)
        return [(name, ids.tobytes()) for name, ids in zip(wanted, found, strict=True) if len(ids)]

    def snapshot(self, path: str, epoch: int) -> tuple[tuple[object, ...], ...] | None:
        """A file's definitions as they were at an epoch: (kind, name, lexical path, signature, line), or None."""
        raw = os.fsencode(path)
        rows = self._read("SELECT file_id FROM parsed WHERE path = ? AND epoch <= ?", (raw, epoch))
        if rows:
            found = self._read(
                "SELECT kind, name, path, signature, line FROM definitions WHERE file_id = ? ORDER BY position",
                (rows[0][0],),
            )
            return tuple(found)
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
            " UNION ALL SELECT path, epoch, language FROM parsed WHERE epoch <= ?",
            (epoch, epoch, epoch),
        )
        return {os.fsdecode(path): (since, language) for path, since, language in rows}

    def _index(self) -> None:
        for statement in _INDEXES.values():
            self._database.connection.execute(statement)

    @contextmanager
    def _at_one_moment(self) -> Iterator[None]:
        """Let several questions of the reader see the same state."""
        self._reader.execute("BEGIN")
        try:
            yield
        finally:
            self._reader.execute("COMMIT")

    def _write(self, files: Sequence[FileParsed], first: int, epoch: int) -> None:
        connection = self._database.connection
        connection.executemany(
            "INSERT INTO parsed VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (number, os.fsencode(one.path), one.digest, one.language, epoch, one.parsed.problem, one.parsed.facts)
                for number, one in enumerate(files, first)
            ),
        )
        connection.executemany(
            "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (number, position, row.uid, row.name, row.kind, _inside(row), row.signature, row.line)
                for number, one in enumerate(files, first)
                for position, row in enumerate(one.parsed.rows)
            ),
        )

    def _forget(self, path: bytes, epoch: int) -> None:
        """Take a file's facts out and keep its definitions as what they were until now."""
        connection = self._database.connection
        row = connection.execute("SELECT file_id, epoch FROM parsed WHERE path = ?", (path,)).fetchone()
        if row is None:
            return
        file_id, since = row
        rows = connection.execute(
            "SELECT kind, name, path, signature, line FROM definitions WHERE file_id = ? ORDER BY position", (file_id,)
        ).fetchall()
        if since < epoch:
            connection.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)",
                (path, since, epoch, zlib.compress(msgspec.json.encode(rows), 1)),
            )
        connection.execute("DELETE FROM definitions WHERE file_id = ?", (file_id,))
        connection.execute("DELETE FROM parsed WHERE file_id = ?", (file_id,))

    def _symbols(self, where: str, values: tuple[object, ...], limit: int) -> list[Symbol]:
        rows = self._read(
            "SELECT hex(definitions.uid), definitions.name, kind, definitions.path, signature, line, parsed.path,"
            f" digest, language, position FROM definitions JOIN parsed USING (file_id) WHERE {where}"
            " ORDER BY parsed.path, position LIMIT ?",
            (*values, limit),
        )
        return [
            Symbol(
                uid=str(uid).lower(),
                name=name,
                kind=kind,
                path=path,
                signature=signature,
                line=line,
                file=os.fsdecode(file),
                digest=digest,
                language=language,
                position=position,
            )
            for uid, name, kind, path, signature, line, file, digest, language, position in rows
        ]

    def _read(self, statement: str, values: Sequence[object] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with self._lock:
            return self._reader.execute(statement, tuple(values)).fetchall()


def _listed(numbers: Iterable[int]) -> str:
    """Numbers as `json_each` takes them."""
    return _encoded([int(number) for number in numbers])


def _encoded(values: Sequence[int] | Sequence[str]) -> str:
    return msgspec.json.encode(values).decode()


def _inside(row: Row) -> str:
    """What a definition's path says beside its name."""
    return row.path[: -len(row.name)].removesuffix(".")
