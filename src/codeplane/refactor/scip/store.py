"""Imported indexes, kept beside ours: what each document said, and of which content."""

import os
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codeplane.index.derived_database import DerivedDatabase
from codeplane.refactor.scip.checked import Accepted, Spoken

_VERSION = 1
_SCHEMA = (
    "CREATE TABLE imports(name TEXT PRIMARY KEY, tool TEXT, version TEXT, at_ns INTEGER) WITHOUT ROWID",
    "CREATE TABLE documents(path BLOB PRIMARY KEY, import TEXT, digest TEXT, spoken BLOB) WITHOUT ROWID",
    "CREATE TABLE definitions(symbol TEXT PRIMARY KEY, import TEXT) WITHOUT ROWID",
    "CREATE TABLE relations(symbol TEXT, other TEXT, import TEXT, PRIMARY KEY(symbol, other)) WITHOUT ROWID",
)
_KEPT = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One index that was taken in."""

    name: str
    tool: str
    version: str
    at_ns: int
    documents: tuple[tuple[str, str], ...]
    """Paths, and the content each speaks of."""


class ScipStore:
    """SQLite with what imported indexes say; opened when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._opened: DerivedDatabase | None = None
        self._held: dict[tuple[str, str], tuple[Spoken, ...]] = {}

    def put(self, name: str, *, tool: str, version: str, at_ns: int, documents: Sequence[Accepted]) -> None:
        """Take an index in; what the one of that name said before is forgotten."""
        with self._lock:
            connection = self._database().connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._forget(name)
                connection.execute("INSERT INTO imports VALUES (?, ?, ?, ?)", (name, tool, version, at_ns))
                connection.executemany(
                    "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)",
                    ((os.fsencode(one.path), name, one.digest, _packed(one.spoken)) for one in documents),
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO relations VALUES (?, ?, ?)",
                    ((pair.symbol, pair.other, name) for one in documents for pair in one.relations),
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO definitions VALUES (?, ?)",
                    ((place.symbol, name) for one in documents for place in one.spoken if place.is_definition),
                )
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            self._held.clear()

    def drop(self, name: str | None = None) -> int:
        """Forget one index, or all; how many there were."""
        with self._lock:
            if not self._there():
                return 0
            connection = self._database().connection
            names = [one for (one,) in connection.execute("SELECT name FROM imports") if name in (None, one)]
            connection.execute("BEGIN IMMEDIATE")
            for one in names:
                self._forget(one)
            connection.execute("COMMIT")
            self._held.clear()
            return len(names)

    def imports(self) -> tuple[Imported, ...]:
        """The indexes that were taken in."""
        with self._lock:
            if not self._there():
                return ()
            connection = self._database().connection
            documents: dict[str, list[tuple[str, str]]] = {}
            for path, name, digest in connection.execute("SELECT path, import, digest FROM documents ORDER BY path"):
                documents.setdefault(name, []).append((os.fsdecode(path), digest))
            rows = connection.execute("SELECT name, tool, version, at_ns FROM imports ORDER BY name").fetchall()
        return tuple(
            Imported(name=name, tool=tool, version=version, at_ns=at_ns, documents=tuple(documents.get(name, ())))
            for name, tool, version, at_ns in rows
        )

    def taken_in(self) -> tuple[tuple[str, int], ...]:
        """The names of the indexes, and when each was taken in."""
        with self._lock:
            if not self._there():
                return ()
            rows = self._database().connection.execute("SELECT name, at_ns FROM imports ORDER BY name").fetchall()
        return tuple((name, at_ns) for name, at_ns in rows)

    def tools(self) -> tuple[tuple[str, int], ...]:
        """The indexers that wrote them, and when something of each was last taken in."""
        with self._lock:
            if not self._there():
                return ()
            rows = self._database().connection.execute("SELECT tool, max(at_ns) FROM imports GROUP BY tool").fetchall()
        return tuple((tool, at_ns) for tool, at_ns in rows)

    def spoken(self, path: str, digest: str) -> tuple[Spoken, ...] | None:
        """What is said of a file with this very content; None when nothing is, or it was of another content."""
        with self._lock:
            if not self._there():
                return None
            key = (path, digest)
            if key not in self._held:
                row = (
                    self._database()
                    .connection.execute(
                        "SELECT spoken FROM documents WHERE path = ? AND digest = ?", (os.fsencode(path), digest)
                    )
                    .fetchone()
                )
                if row is None:
                    return None
                while len(self._held) >= _KEPT:
                    self._held.pop(next(iter(self._held)))
                self._held[key] = _unpacked(row[0])
            return self._held[key]

    def defines(self, symbol: str) -> bool:
        """Whether a symbol is defined in a document, and not somewhere outside."""
        with self._lock:
            if not self._there():
                return False
            connection = self._database().connection
            return connection.execute("SELECT 1 FROM definitions WHERE symbol = ?", (symbol,)).fetchone() is not None

    def related(self, symbol: str) -> frozenset[str]:
        """The symbols that belong together with one, as far as that is said of it or of them."""
        with self._lock:
            if not self._there():
                return frozenset()
            connection = self._database().connection
            found, waiting = {symbol}, [symbol]
            while waiting and len(found) < _KEPT:
                one = waiting.pop()
                rows = connection.execute(
                    "SELECT other FROM relations WHERE symbol = ?1 UNION SELECT symbol FROM relations WHERE other = ?1",
                    (one,),
                ).fetchall()
                waiting += [other for (other,) in rows if other not in found]
                found |= {other for (other,) in rows}
            return frozenset(found - {symbol})

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _there(self) -> bool:
        return self._opened is not None or self._path.exists()

    def _database(self) -> DerivedDatabase:
        if self._opened is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._opened = DerivedDatabase(self._path, version=_VERSION, schema=_SCHEMA)
        return self._opened

    def _forget(self, name: str) -> None:
        connection = self._database().connection
        connection.execute("DELETE FROM imports WHERE name = ?", (name,))
        for table in ("documents", "definitions", "relations"):
            connection.execute(f"DELETE FROM {table} WHERE import = ?", (name,))


def _packed(spoken: Sequence[Spoken]) -> bytes:
    symbols = {symbol: index for index, symbol in enumerate(dict.fromkeys(one.symbol for one in spoken))}
    rows = [(one.start, one.end, symbols[one.symbol], one.is_definition) for one in spoken]
    return zlib.compress(msgspec.msgpack.encode((list(symbols), rows)), 1)


def _unpacked(raw: bytes) -> tuple[Spoken, ...]:
    symbols, rows = msgspec.msgpack.decode(
        zlib.decompress(raw), type=tuple[list[str], list[tuple[int, int, int, bool]]]
    )
    return tuple(
        Spoken(start=start, end=end, symbol=symbols[index], is_definition=defines)
        for start, end, index, defines in rows
    )
