"""The ledger's SQLite file: connections, migrations and error translation."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from codeplane.kernel.errors import (
    CodePlaneError,
    LedgerCorrupt,
    SchemaTooNew,
    ShuttingDown,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
)
from codeplane.kernel.trace import span
from codeplane.ledger.rows import Cell

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE events(
            position INTEGER PRIMARY KEY, stream TEXT NOT NULL, sequence INTEGER NOT NULL, event_id TEXT NOT NULL,
            type TEXT NOT NULL, schema INTEGER NOT NULL, at_ns INTEGER NOT NULL, actor TEXT NOT NULL,
            source TEXT NOT NULL, content_trust TEXT NOT NULL, session_id TEXT, call_id TEXT, task_id TEXT,
            thread_id TEXT, turn_id TEXT, job_id TEXT, payload TEXT NOT NULL)""",
        "CREATE UNIQUE INDEX events_by_stream ON events(stream, sequence)",
        "CREATE UNIQUE INDEX events_by_id ON events(event_id)",
        "CREATE INDEX events_by_call ON events(call_id) WHERE call_id IS NOT NULL",
        "CREATE INDEX events_by_session ON events(session_id) WHERE session_id IS NOT NULL",
        """CREATE TABLE streams(
            stream TEXT PRIMARY KEY, head INTEGER NOT NULL, first INTEGER NOT NULL, last_at_ns INTEGER NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE log_state(
            one INTEGER PRIMARY KEY CHECK(one = 1),
            last_position INTEGER NOT NULL, dropped_position INTEGER NOT NULL)""",
        "INSERT INTO log_state VALUES (1, 0, 0)",
        "CREATE TABLE projections(name TEXT PRIMARY KEY, version INTEGER NOT NULL, position INTEGER NOT NULL)",
        """CREATE TABLE snapshots(
            position INTEGER NOT NULL, projection TEXT NOT NULL, version INTEGER NOT NULL, at_ns INTEGER NOT NULL,
            data BLOB NOT NULL, PRIMARY KEY(projection, position))""",
        "CREATE TABLE blobs(hash TEXT PRIMARY KEY, at_ns INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL)",
    ),
    (
        "ALTER TABLE log_state ADD COLUMN blob_bytes INTEGER NOT NULL DEFAULT 0",
        "UPDATE log_state SET blob_bytes = (SELECT coalesce(sum(size), 0) FROM blobs)",
        # Their format changed; the next retention takes new ones before it drops anything.
        "DELETE FROM snapshots",
    ),
    (
        # Without it, a query for a rare type or task would read the whole log.
        "CREATE INDEX events_by_type ON events(type)",
        # Most events of a task are in its own stream, which has an index already.
        """CREATE INDEX events_by_task ON events(task_id)
           WHERE task_id IS NOT NULL AND stream != 'task/' || task_id""",
    ),
    (
        "ALTER TABLE events ADD COLUMN work_id TEXT",
        "CREATE INDEX events_by_work ON events(work_id) WHERE work_id IS NOT NULL",
        # Who began a stream may read it.
        "ALTER TABLE streams ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
        """UPDATE streams SET owner = coalesce(
               (SELECT actor FROM events e WHERE e.stream = streams.stream AND e.sequence = streams.first), '')""",
        """CREATE TABLE payloads(
            work_id TEXT NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL,
            PRIMARY KEY(work_id, hash)) WITHOUT ROWID""",
        # Where this log stands in one that several nodes share, and which namespace it belongs to.
        "ALTER TABLE log_state ADD COLUMN shared_offset INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE log_state ADD COLUMN namespace TEXT NOT NULL DEFAULT ''",
    ),
    (
        # Which node of a shared log an event came from; without one, it is this ledger's own.
        "ALTER TABLE events ADD COLUMN node TEXT",
        "ALTER TABLE log_state ADD COLUMN node TEXT NOT NULL DEFAULT ''",
        "UPDATE log_state SET node = 'node_' || lower(hex(randomblob(8)))",
        # Which shared log this ledger belongs to, and the last batches that were applied from it.
        "ALTER TABLE log_state ADD COLUMN shared_log TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE shared_batches(batch_id TEXT PRIMARY KEY, shared_offset INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE INDEX shared_batches_by_offset ON shared_batches(shared_offset)",
    ),
)
SCHEMA_VERSION = len(MIGRATIONS)

_BUSY_MS = 5000
# A commit writes a hundred pages while twenty turns run, mostly the same ones: SQLite's own 1,000 would bring them into
# the file after every tenth.
_CHECKPOINT_PAGES = 4000
# Each insert that is written for several rows has a statement for each number of them.
_WRITERS_STATEMENTS = 512
T = TypeVar("T")
_THREADS = 2


def open_writer(path: Path) -> sqlite3.Connection:
    """Open the only writing connection, and migrate the schema."""
    refuse_newer(path)
    try:
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, cached_statements=_WRITERS_STATEMENTS
        )
    except sqlite3.Error as error:
        raise translate(error, path) from error
    try:
        connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}")
        connection.execute("PRAGMA temp_store=MEMORY")
        _migrate(connection)
    except sqlite3.Error as error:
        connection.close()
        raise translate(error, path) from error
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """Open a read-only connection."""
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        connection.execute("PRAGMA query_only=ON")
    except sqlite3.Error as error:
        raise translate(error, path) from error
    return connection


def refuse_newer(path: Path) -> None:
    """Raise SchemaTooNew for a newer ledger; opened read-only, so that such a file stays unchanged."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    connection = open_reader(path)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        raise translate(error, path) from error
    finally:
        connection.close()
    if version > SCHEMA_VERSION:
        raise SchemaTooNew(
            f"{path.name} has schema {version}; this CodePlane knows up to {SCHEMA_VERSION}",
            details={"found": version, "known": SCHEMA_VERSION},
        )


def _migrate(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number in range(version, SCHEMA_VERSION):
        connection.execute("BEGIN IMMEDIATE")
        for statement in MIGRATIONS[number]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={number + 1}")
        connection.execute("COMMIT")


def last_position(connection: sqlite3.Connection) -> int:
    """The last position of the log."""
    (position,) = connection.execute("SELECT last_position FROM log_state").fetchone()
    return int(position)


def translate(error: sqlite3.Error, path: Path) -> CodePlaneError:
    """The error of CodePlane for an error of SQLite."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StorageFull(f"the disk that holds {path.name} is full")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StorageReadOnly(f"{path} cannot be written: {error}")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "malformed JSON" in str(error):
        return LedgerCorrupt(f"{path.name} is damaged: {error}")
    return StorageFailed(f"{path.name} could not be used: {error}")


class DatabaseFile:
    """An open file that may be deleted or replaced meanwhile."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)

    def problem(self) -> str:
        """What happened to the file, or an empty string when it is still in place."""
        identity = _identity(self._path)
        if identity == self._identity:
            return ""
        change = "replaced" if identity is not None else "deleted"
        return f"{self._path.name} was {change} while it was served: nothing is recorded until a start"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


class ReaderPool:
    """A pool of reader threads, each with its own read-only connection; a function sees one consistent state."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._open: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="codeplane-read")

    async def run(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in a reader thread, inside one read transaction."""
        try:
            reading = asyncio.get_running_loop().run_in_executor(self._pool, self.run_here, function)
        except RuntimeError as error:
            raise ShuttingDown("the ledger is closed") from error
        with span("sqlite.read"):
            return await reading

    def run_here(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """As `run`, on the calling thread."""
        connection = self._connection()
        try:
            connection.execute("BEGIN")
            try:
                return function(connection)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise translate(error, self._path) from error

    def lookup(self, statement: str, parameters: Sequence[Cell]) -> list[tuple[Cell, ...]]:
        """The rows of one statement, read on the calling thread; for few rows that an index finds."""
        try:
            return self._connection().execute(statement, parameters).fetchall()
        except sqlite3.Error as error:
            raise translate(error, self._path) from error

    def _connection(self) -> sqlite3.Connection:
        """The calling thread's own connection."""
        if self._closed:
            raise ShuttingDown("the ledger is closed")
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = open_reader(self._path)
            with self._lock:
                self._open.append(connection)
        return connection

    def close(self) -> None:
        """End the threads and close their connections."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        for connection in self._open:
            connection.close()
