"""The store of imported SCIP indexes: the symbols of each document, and the content they are valid for."""

import os
import threading
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codeplane.index.derived_database import DerivedDatabase
from codeplane.refactor.scip.validation import AcceptedDocument, SymbolSpan

_VERSION = 1
_SCHEMA = (
    "CREATE TABLE imports(name TEXT PRIMARY KEY, tool TEXT, version TEXT, at_ns INTEGER) WITHOUT ROWID",
    "CREATE TABLE documents(path BLOB PRIMARY KEY, import TEXT, digest TEXT, spoken BLOB) WITHOUT ROWID",
    "CREATE TABLE definitions(symbol TEXT PRIMARY KEY, import TEXT) WITHOUT ROWID",
    "CREATE TABLE relations(symbol TEXT, other TEXT, import TEXT, PRIMARY KEY(symbol, other)) WITHOUT ROWID",
)
_KEPT = 256
OTHER = "other"
_LANGUAGES = {
    "scip-python": "python",
    "scip-typescript": "typescript",
    "scip-java": "java",
    "scip-go": "go",
    "rust-analyzer": "rust",
    "scip-clang": "c++",
    "scip-ruby": "ruby",
    "scip-dotnet": "csharp",
    "scip-php": "php",
    "scip-dart": "dart",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """One imported index."""

    name: str
    tool: str
    version: str
    at_ns: int
    documents: tuple[tuple[str, str], ...]
    """Paths, and the digest of the content that each is valid for."""


class ScipStore:
    """A SQLite database of imported indexes, opened when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._opened: DerivedDatabase | None = None
        self._held: dict[tuple[str, str], tuple[SymbolSpan, ...]] = {}

    def put(self, name: str, *, tool: str, version: str, at_ns: int, documents: Sequence[AcceptedDocument]) -> None:
        """Store an index in place of the one of the same name."""
        with self._lock:
            connection = self._database().connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._forget(name)
                connection.execute("INSERT INTO imports VALUES (?, ?, ?, ?)", (name, tool, version, at_ns))
                connection.executemany(
                    "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)",
                    (
                        (os.fsencode(document.path), name, document.digest, _pack(document.spoken))
                        for document in documents
                    ),
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO relations VALUES (?, ?, ?)",
                    ((pair.symbol, pair.other, name) for document in documents for pair in document.relations),
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO definitions VALUES (?, ?)",
                    (
                        (place.symbol, name)
                        for document in documents
                        for place in document.spoken
                        if place.is_definition
                    ),
                )
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            self._held.clear()

    def drop(self, name: str | None = None) -> int:
        """Delete one index, or all; return how many."""
        with self._lock:
            if not self._exists():
                return 0
            connection = self._database().connection
            names = [
                index_name
                for (index_name,) in connection.execute("SELECT name FROM imports")
                if name in (None, index_name)
            ]
            connection.execute("BEGIN IMMEDIATE")
            for index_name in names:
                self._forget(index_name)
            connection.execute("COMMIT")
            self._held.clear()
            return len(names)

    def imports(self) -> tuple[Imported, ...]:
        """Return the imported indexes."""
        with self._lock:
            if not self._exists():
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

    def list_indexes(self) -> tuple[tuple[str, int], ...]:
        """Return the names of the indexes, and when each was imported."""
        with self._lock:
            if not self._exists():
                return ()
            rows = self._database().connection.execute("SELECT name, at_ns FROM imports ORDER BY name").fetchall()
        return tuple((name, at_ns) for name, at_ns in rows)

    def tools(self) -> tuple[tuple[str, int], ...]:
        """Return the indexers, and when an index of each was last imported."""
        with self._lock:
            if not self._exists():
                return ()
            rows = self._database().connection.execute("SELECT tool, max(at_ns) FROM imports GROUP BY tool").fetchall()
        return tuple((tool, at_ns) for tool, at_ns in rows)

    def symbols_of_file(self, path: str, digest: str) -> tuple[SymbolSpan, ...] | None:
        """Return the symbols of a file with this content; None if no index has them."""
        with self._lock:
            if not self._exists():
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
                self._held[key] = _unpack(row[0])
            return self._held[key]

    def defines(self, symbol: str) -> bool:
        """Whether a symbol is defined in a document, and not outside."""
        with self._lock:
            if not self._exists():
                return False
            connection = self._database().connection
            return connection.execute("SELECT 1 FROM definitions WHERE symbol = ?", (symbol,)).fetchone() is not None

    def relatives(self, symbol: str) -> frozenset[str]:
        """Return the symbols that are related to one, directly or through others."""
        with self._lock:
            if not self._exists():
                return frozenset()
            connection = self._database().connection
            found, waiting = {symbol}, [symbol]
            while waiting and len(found) < _KEPT:
                related_symbol = waiting.pop()
                rows = connection.execute(
                    "SELECT other FROM relations WHERE symbol = ?1 UNION SELECT symbol FROM relations WHERE other = ?1",
                    (related_symbol,),
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

    def _exists(self) -> bool:
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


def _pack(spoken: Sequence[SymbolSpan]) -> bytes:
    symbols = {symbol: index for index, symbol in enumerate(dict.fromkeys(span.symbol for span in spoken))}
    rows = [(span.start, span.end, symbols[span.symbol], span.is_definition) for span in spoken]
    return zlib.compress(msgspec.msgpack.encode((list(symbols), rows)), 1)


def _unpack(raw: bytes) -> tuple[SymbolSpan, ...]:
    symbols, rows = msgspec.msgpack.decode(
        zlib.decompress(raw), type=tuple[list[str], list[tuple[int, int, int, bool]]]
    )
    return tuple(
        SymbolSpan(start=start, end=end, symbol=symbols[index], is_definition=defines)
        for start, end, index, defines in rows
    )


def newest_by_language(taken_in: Iterable[tuple[str, int]]) -> dict[str, int | None]:
    """Return when an index of each language was last imported, by the names of the tools; None if there is none."""
    newest: dict[str, int | None] = dict.fromkeys((*_LANGUAGES.values(), OTHER))
    for tool, at_ns in taken_in:
        language = _LANGUAGES.get(tool.lower(), OTHER)
        newest[language] = max(newest[language] or 0, at_ns)
    return newest
