"""The order that several nodes share: batches of drafts, each at an offset that is the same for all of them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedBatch:
    """One batch as a node published it, at its place in the order."""

    offset: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedIdentity:
    """Which shared log it is, the position of the ledger that founded it, and the key of 32 bytes that its nodes seal
    with."""

    log_id: str
    base: int
    key: bytes


class SharedLog(Protocol):
    """Orders batches for all nodes; offsets grow from 1, and may leave numbers out.

    It carries bytes and decides nothing: conflicts, sequences and repeated batches are decided by each node when it
    applies a batch, and since all apply the same batches in the same order, they decide alike.
    Every method raises SharedLogUnavailable while the log cannot be reached.
    """

    async def connect(self, base: int) -> SharedIdentity:
        """Connect; the first one makes the log, on top of a ledger at position `base`."""
        ...

    async def publish(self, batch_id: str, data: bytes) -> int:
        """Add a batch durably and return its offset; the same id again may be added again, or give the first offset."""
        ...

    def follow(self, after: int) -> AsyncIterator[SharedBatch]:
        """The batches after an offset, in their order, and then as they come; some may be delivered twice.

        Raises SharedLogGap when batches after the offset were trimmed.
        """
        ...

    async def start(self) -> int:
        """The offset up to which batches were trimmed, 0 when none were."""
        ...

    async def end(self) -> int:
        """The offset of the last batch, 0 when there is none."""
        ...

    async def trim(self, before: int) -> None:
        """Forget the batches up to and including an offset."""
        ...

    async def close(self) -> None:
        """Disconnect; iterators of `follow` end."""
        ...


class SharedSnapshots(Protocol):
    """Keeps the newest snapshot of a ledger, from which a node starts when older batches were trimmed."""

    async def put_snapshot(self, offset: int, file: Path) -> None:
        """Store a ledger's file as it was after the batch at an offset, in place of older ones."""
        ...

    async def get_snapshot(self, file: Path) -> int | None:
        """Copy the newest snapshot into a file and return its offset; None when there is none."""
        ...


class SharedStore(SharedLog, SharedSnapshots, Protocol):
    """A shared log that keeps snapshots, too."""
