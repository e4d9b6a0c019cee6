"""A shared log in a folder of one machine: a SQLite file for all nodes' processes, and snapshots beside it."""

import asyncio
import os
import secrets
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from codeplane.adapters.file_lock import FileLock
from codeplane.adapters.file_replacement import storage_error, write_private
from codeplane.kernel.errors import (
    CodePlaneError,
    LedgerCorrupt,
    ServerRunning,
    SharedLogGap,
    SharedLogMismatch,
    SharedLogUnavailable,
    StorageFull,
)
from codeplane.kernel.ids import new_id
from codeplane.kernel.shared_log import SharedBatch, SharedIdentity

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS batches("
    "position INTEGER PRIMARY KEY AUTOINCREMENT, batch_id TEXT NOT NULL UNIQUE, data BLOB NOT NULL)",
    """CREATE TABLE IF NOT EXISTS log(
        one INTEGER PRIMARY KEY CHECK(one = 1), log_id TEXT NOT NULL, base INTEGER NOT NULL, trimmed INTEGER NOT NULL,
        snapshot INTEGER)""",
)
_PAGE = 64
_KEY_BYTES = 32
_COPY_BYTES = 1024 * 1024
# How soon a batch of another process is seen; one of this process is seen at once.
_POLL_SEC = 0.02
_BUSY_MS = 5000
T = TypeVar("T")


class FolderLog:
    """The port SharedLog, for nodes on one machine; each node joins with its own id, and only once."""

    def __init__(self, folder: Path, *, node: str) -> None:
        self._folder = folder
        self._node = node
        self._connection: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="codeplane-shared")
        self._lock: FileLock | None = None
        self._published = asyncio.Event()
        self._is_closed = False

    async def connect(self, base: int) -> SharedIdentity:
        """Open the folder, and make it where it is missing."""
        self._join()
        return await self._run(self._identify(base), writes=True)

    async def publish(self, batch_id: str, data: bytes) -> int:
        """Add a batch durably; the same id again gives the first offset."""

        def add(connection: sqlite3.Connection) -> int:
            row = connection.execute(
                "INSERT INTO batches(batch_id, data) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING position",
                (batch_id, data),
            ).fetchone()
            if row is None:
                row = connection.execute("SELECT position FROM batches WHERE batch_id = ?", (batch_id,)).fetchone()
            return int(row[0])

        offset = await self._run(add, writes=True)
        self._published.set()
        return offset

    async def follow(self, after: int) -> AsyncGenerator[SharedBatch, None]:
        """The batches after an offset, and then as they come."""
        while not self._is_closed:
            self._published.clear()
            batches = await self._run(partial(_page, after=after))
            for batch in batches:
                yield batch
                after = batch.offset
            if len(batches) < _PAGE:
                try:
                    async with asyncio.timeout(_POLL_SEC):
                        await self._published.wait()
                except TimeoutError:
                    continue

    async def start(self) -> int:
        """The offset up to which batches were trimmed."""
        return await self._run(_trim_position)

    async def end(self) -> int:
        """The offset of the last batch."""
        return await self._run(_end)

    async def trim(self, before: int) -> None:
        """Forget batches, as far as a snapshot holds what they did."""

        def forget(connection: sqlite3.Connection) -> None:
            (snapshot,) = connection.execute("SELECT snapshot FROM log").fetchone()
            last = min(before, snapshot or 0)
            connection.execute("UPDATE log SET trimmed = max(trimmed, ?)", (last,))
            connection.execute("DELETE FROM batches WHERE position <= ?", (last,))

        await self._run(forget, writes=True)

    async def put_snapshot(self, offset: int, file: Path) -> None:
        """Store a snapshot durably, then forget older ones."""

        place = self._snapshot(offset)

        def copy() -> None:
            part = place.with_name(f"{place.name}.{self._node}.part")
            part.unlink(missing_ok=True)
            # For the user alone, as the log is, whatever folder it lies in.
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with file.open("rb") as source, os.fdopen(descriptor, "wb") as target:
                shutil.copyfileobj(source, target, _COPY_BYTES)
                target.flush()
                os.fsync(descriptor)
            part.replace(place)

        def note(connection: sqlite3.Connection) -> int:
            connection.execute("UPDATE log SET snapshot = max(coalesce(snapshot, 0), ?)", (offset,))
            return int(connection.execute("SELECT snapshot FROM log").fetchone()[0])

        try:
            await asyncio.to_thread(copy)
        except OSError as error:
            raise storage_error(error, place) from error
        newest = await self._run(note, writes=True)
        for other in self._folder.glob("snapshot-*.db"):
            if other != self._snapshot(newest):
                other.unlink(missing_ok=True)

    async def get_snapshot(self, file: Path) -> int | None:
        """Copy the newest snapshot into a file."""

        def get(connection: sqlite3.Connection) -> int | None:
            (snapshot,) = connection.execute("SELECT snapshot FROM log").fetchone()
            if snapshot is not None:
                shutil.copyfile(self._snapshot(snapshot), file)
            return None if snapshot is None else int(snapshot)

        return await self._run(get)

    async def close(self) -> None:
        """Close the file and let the node's id go."""
        if self._is_closed:
            return
        self._is_closed = True
        self._published.set()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _join(self) -> None:
        """Hold this node's id, which another process may have from a copied folder."""
        if self._lock is not None:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self._folder / "nodes").mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise SharedLogUnavailable(f"{self._folder} cannot be used: {error.strerror}") from error
        lock = FileLock(self._folder / "nodes" / self._node)
        try:
            lock.acquire()
        except ServerRunning as error:
            raise SharedLogMismatch(
                f"another process uses the shared log as {self._node}",
                hint="a copied .codeplane/ has its node's id: move ledger.db of the copy aside",
            ) from error
        self._lock = lock

    def _identify(self, base: int) -> Callable[[sqlite3.Connection], SharedIdentity]:
        def identify(connection: sqlite3.Connection) -> SharedIdentity:
            connection.execute(
                "INSERT INTO log(one, log_id, base, trimmed) VALUES (1, ?, ?, 0) ON CONFLICT DO NOTHING",
                (new_id("log"), base),
            )
            log_id, founded_at = connection.execute("SELECT log_id, base FROM log").fetchone()
            # Inside the transaction: of several nodes that come first, one makes the key.
            return SharedIdentity(log_id=str(log_id), base=int(founded_at), key=self._key())

        return identify

    def _key(self) -> bytes:
        """The key beside the log, made when it is missing: what was sealed with another cannot be opened any more."""
        path = self._folder / "key"
        try:
            key = bytes.fromhex(path.read_text("ascii"))
        except FileNotFoundError:
            key = secrets.token_bytes(_KEY_BYTES)
            write_private(path, key.hex().encode())
        except ValueError:
            key = b""
        if len(key) != _KEY_BYTES:
            raise LedgerCorrupt(f"{path} holds no key", hint="restore it from a backup, or move it aside")
        return key

    def _snapshot(self, offset: int) -> Path:
        return self._folder / f"snapshot-{offset}.db"

    async def _run(self, function: Callable[[sqlite3.Connection], T], *, writes: bool = False) -> T:
        """Run a function on the connection, in its thread and in a transaction."""

        def call() -> T:
            try:
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                try:
                    result = function(connection)
                    connection.execute("COMMIT")
                    return result
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise self._translate(error) from error
            except OSError as error:
                raise SharedLogUnavailable(f"{self._folder} cannot be used: {error}") from error

        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except RuntimeError as error:
            raise SharedLogUnavailable("the shared log is closed") from error

    def _open(self) -> sqlite3.Connection:
        path = self._folder / "shared.db"
        if self._connection is not None and _inode(path) != self._inode:
            # What is written to a deleted file, no other node would ever see.
            raise SharedLogUnavailable(
                f"{path} was deleted or replaced while it was used", hint="put it back, then: cpl down && cpl up"
            )
        if self._connection is None:
            # SQLite gives its other files the mode of this one.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            for statement in _SCHEMA:
                connection.execute(statement)
            self._connection, self._inode = connection, _inode(path)
        return self._connection

    def _translate(self, error: sqlite3.Error) -> CodePlaneError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return StorageFull("the disk that holds the shared log is full")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return LedgerCorrupt(f"{self._folder / 'shared.db'} is damaged: {error}", hint="restore it from a backup")
        return SharedLogUnavailable(f"{self._folder / 'shared.db'} cannot be used: {error}")

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._lock is not None:
            self._lock.release()


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _page(connection: sqlite3.Connection, *, after: int) -> list[SharedBatch]:
    if after < (trimmed := _trim_position(connection)):
        raise SharedLogGap(f"batches up to {trimmed} were trimmed, and {after} is the last one applied here")
    rows = connection.execute(
        "SELECT position, data FROM batches WHERE position > ? ORDER BY position LIMIT ?", (after, _PAGE)
    )
    return [SharedBatch(offset=int(offset), data=bytes(data)) for offset, data in rows]


def _trim_position(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT trimmed FROM log").fetchone()[0])


def _end(connection: sqlite3.Connection) -> int:
    (last,) = connection.execute("SELECT max(position) FROM batches").fetchone()
    return int(last) if last is not None else _trim_position(connection)
