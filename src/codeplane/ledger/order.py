"""What gives appends their order: this node's own queue, or a log that several nodes share."""

from typing import Protocol

from codeplane.ledger.job import Append
from codeplane.ledger.writer import Writer


class Order(Protocol):
    """Takes appends and has them written in one order; the writer answers their replies."""

    @property
    def waiting(self) -> int:
        """Events that are not written yet."""
        ...

    def submit(self, append: Append) -> None:
        """Queue an append; those of one node keep their order."""
        ...

    async def flush(self) -> None:
        """Return when everything queued so far has been decided, and can be read."""
        ...


class LocalOrder:
    """The order in which this node's writer takes appends from its queue."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    @property
    def waiting(self) -> int:
        """Events in the writer's queue."""
        return self._writer.waiting

    def submit(self, append: Append) -> None:
        """Queue an append for the writer."""
        self._writer.submit(append)

    async def flush(self) -> None:
        """Return when the writer has come to the end of its queue."""
        await self._writer.run(lambda writing: None)
