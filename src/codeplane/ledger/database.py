"""Opening the ledger's file: pragmas, forward-only migrations, and SQLite's failures in our words."""

import sqlite3
from pathlib import Path

from codeplane.kernel.errors import (
    CodePlaneError,
    LedgerCorrupt,
    SchemaTooNew,
    StorageFailed,
    StorageFull,
    StorageReadOnly,
)

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
        # They have another form now; the next retention takes new ones before it drops anything.
        "DELETE FROM snapshots",
    ),
    (
        # Where a type or a task is rare, whoever asks for it would otherwise read all of the log.
        "CREATE INDEX events_by_type ON events(type)",
        # Most of what names a task is in the task's own stream, by which it is found at no further cost.
        """CREATE INDEX events_by_task ON events(task_id)
           WHERE task_id IS NOT NULL AND stream != 'task/' || task_id""",
    ),
)
SCHEMA_VERSION = len(MIGRATIONS)

_BUSY_MS = 5000


def open_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes, with its schema brought up to date."""
    refuse_newer(path)
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise translate(error, path) from error
    try:
        connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA temp_store=MEMORY")
        _migrate(connection)
    except sqlite3.Error as error:
        connection.close()
        raise translate(error, path) from error
    return connection


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read."""
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
    """SchemaTooNew; looked at without the right to write: what is not ours to change stays as it is, to the byte."""
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
    """Where the log ends."""
    (position,) = connection.execute("SELECT last_position FROM log_state").fetchone()
    return int(position)


def translate(error: sqlite3.Error, path: Path) -> CodePlaneError:
    """What a failure of SQLite means for whoever runs CodePlane."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return StorageFull(f"the disk that holds {path.name} is full")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return StorageReadOnly(f"{path} cannot be written: {error}")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "malformed JSON" in str(error):
        return LedgerCorrupt(f"{path.name} is damaged: {error}")
    return StorageFailed(f"{path.name} could not be used: {error}")
