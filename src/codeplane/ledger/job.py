"""What the writer does: appends of this node, batches of a shared log, and any other write."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from codeplane.kernel.errors import CodePlaneError, Internal, LedgerCorrupt, SequenceConflict, StorageFailed, TooLarge
from codeplane.kernel.event import Appended, Draft, SealedPayload
from codeplane.ledger import blobs
from codeplane.ledger.database import translate
from codeplane.ledger.projection import RETENTION_APPLIED
from codeplane.ledger.transaction import WriteTransaction

# So many offsets back, a batch that was published twice is known.
KNOWN_BATCHES = 100_000
_PRUNE_EVERY = 1000
# What SQLite says of a statement or a value, and not of the disk: it says the same on every node.
_REJECTIONS = frozenset(
    {
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_RANGE,
        sqlite3.SQLITE_TOOBIG,
    }
)


class Reply:
    """A future for a job's outcome; when it is not urgent, the writer waits a little for more to write with it."""

    def __init__(self, *, is_urgent: bool = True) -> None:
        self.is_urgent = is_urgent
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[object] = self.loop.create_future()

    def settle(self, value: object) -> None:
        """Set the outcome unless the waiter is gone; runs on the loop."""
        if self.future.done():
            return
        if isinstance(value, BaseException):
            self.future.set_exception(value)
        else:
            self.future.set_result(value)


@dataclass(slots=True, kw_only=True)
class Append:
    """Drafts to append, all or none."""

    drafts: Sequence[Draft]
    payloads: Sequence[str]
    expect: Mapping[str, int] | None = None
    sealed: Sequence[SealedPayload] = ()
    reply: Reply | None = None

    @property
    def weight(self) -> int:
        """How much of the queue it takes."""
        return len(self.drafts)

    @property
    def is_short(self) -> bool:
        """Whether it only adds, and takes about as long as its drafts are many."""
        return all(draft.type != RETENTION_APPLIED for draft in self.drafts)

    def perform(self, writing: WriteTransaction) -> Appended | SequenceConflict | TooLarge:
        """Append the drafts, unless a stream is not where it is expected to be or a payload is too large."""
        for stream, expected in (self.expect or {}).items():
            head = writing.head(stream)
            if head != expected:
                return SequenceConflict(
                    f"{stream} is at {head}, not at {expected}",
                    details={"stream": stream, "expected": expected, "found": head},
                )
        for sealed in self.sealed:
            if (refused := writing.store_payload(sealed)) is not None:
                return refused
        return writing.append(self.drafts, self.payloads)


@dataclass(slots=True, kw_only=True)
class Command:
    """Any other write, in the order of the queue."""

    run: Callable[[WriteTransaction], object]
    reply: Reply | None = None
    weight: int = 1

    def perform(self, writing: WriteTransaction) -> object:
        """Run it on the events before it."""
        writing.flush()
        # It may delete some.
        writing.payload_bytes.clear()
        outcome = self.run(writing)
        writing.flush()
        return outcome


@dataclass(slots=True, kw_only=True)
class StoredBlob:
    """Bytes for every node's blob store."""

    key: str
    at_ns: int
    data: bytes
    limit: int
    reply: Reply | None = None
    weight: int = 1

    def perform(self, writing: WriteTransaction) -> bool:
        """Store them, as far as the store's bound allows."""
        return blobs.store(writing.connection, self.key, self.data, at_ns=self.at_ns, limit=self.limit)


Entry: TypeAlias = Append | StoredBlob


@dataclass(slots=True, kw_only=True)
class Batch:
    """What a node published to the shared log, with the offset before it; `own` are this node's waiting entries."""

    batch_id: str
    node: str
    after: int
    offset: int
    entries: Sequence[Entry]
    own: Sequence[Entry] = ()
    reply: Reply | None = None

    @property
    def weight(self) -> int:
        """How much of the queue it takes."""
        return sum(entry.weight for entry in self.entries)

    def perform(self, writing: WriteTransaction, *, apart: bool) -> list[object]:
        """Apply the entries in order; `apart`, one that cannot be applied does not keep the others from it."""
        if self.offset <= writing.shared_offset:
            return []
        if self.after != writing.shared_offset:
            raise StorageFailed(f"batch {self.offset} comes before {self.after} is applied")
        writing.shared_offset, writing.node = self.offset, self.node
        try:
            if not self._is_new(writing.connection):
                return []
            if apart:
                return [_perform_apart(entry, writing) for entry in self.entries]
            return [entry.perform(writing) for entry in self.entries]
        finally:
            writing.node = ""

    def _is_new(self, connection: sqlite3.Connection) -> bool:
        if self.offset % _PRUNE_EVERY == 0:
            connection.execute("DELETE FROM shared_batches WHERE shared_offset <= ?", (self.offset - KNOWN_BATCHES,))
        return bool(
            connection.execute(
                "INSERT OR IGNORE INTO shared_batches(batch_id, shared_offset) VALUES (?, ?)",
                (self.batch_id, self.offset),
            ).rowcount
        )


Job: TypeAlias = Append | Command | StoredBlob | Batch


def _perform_apart(entry: Entry, writing: WriteTransaction) -> object:
    """Apply one entry, or nothing of it when it is rejected."""
    connection = writing.connection
    writing.flush()
    position, committed = writing.position, len(writing.committed)
    connection.execute("SAVEPOINT entry")
    try:
        outcome: object = entry.perform(writing)
        writing.flush()
    except Exception as error:
        if not is_rejection(error):
            raise
        connection.execute("ROLLBACK TO entry")
        writing.restore(position, committed)
        outcome = failure(error, Path("the ledger"))
    connection.execute("RELEASE entry")
    return outcome


def is_rejection(error: Exception) -> bool:
    """Whether the events are at fault and not this node's disk, so that every node fails in the same way."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        return code in _REJECTIONS and not isinstance(translate(error, Path("the ledger")), LedgerCorrupt)
    return not isinstance(error, (CodePlaneError, MemoryError, OSError))


def failure(error: Exception, path: Path) -> CodePlaneError:
    """The error that an append is answered with."""
    if isinstance(error, CodePlaneError):
        return error
    if isinstance(error, sqlite3.IntegrityError):
        return SequenceConflict(f"the log already holds this event: {error}")
    if isinstance(error, sqlite3.Error):
        found = translate(error, path)
    else:
        found = Internal(f"the ledger failed: {type(error).__name__}: {error}")
    found.__cause__ = error
    return found
