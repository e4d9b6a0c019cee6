"""The real log on a test's own file, with a projection that counts and one that breaks on demand."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

from codeplane.kernel.clock import Clock, SystemClock
from codeplane.kernel.config import LedgerConfig
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import Draft, Event
from codeplane.kernel.json import JsonObject
from codeplane.ledger.blobs import Seal
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import RETENTION_APPLIED, Projection, Tables
from codeplane.ledger.transaction import WriteTransaction


class Counts:
    """How many events each stream had, and their numbers' sum; prunes what retention dropped."""

    name: ClassVar[str] = "counts"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("counts",)
    types: ClassVar[frozenset[str]] = frozenset({"n", RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        "CREATE TABLE counts(stream TEXT PRIMARY KEY, events INTEGER, total INTEGER, note BLOB)",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            streams = event.payload["streams"]
            assert isinstance(streams, list)
            for stream, _ in streams:
                tables.execute("DELETE FROM counts WHERE stream = ?", (stream,))
            return
        number = event.payload["n"]
        assert isinstance(number, int)
        tables.execute(
            """INSERT INTO counts VALUES (?1, 1, ?2, ?3)
               ON CONFLICT(stream) DO UPDATE SET events = events + 1, total = total + ?2""",
            (event.stream, number, event.stream.encode()),
        )


class Brittle(Counts):
    """Breaks on a poisoned event."""

    name: ClassVar[str] = "brittle"
    tables: ClassVar[tuple[str, ...]] = ("brittle",)
    schema: ClassVar[tuple[str, ...]] = ("CREATE TABLE brittle(n INTEGER)",)
    types: ClassVar[frozenset[str]] = frozenset({"n"})

    def apply(self, tables: Tables, event: Event) -> None:
        tables.execute("INSERT INTO brittle VALUES (1)")
        if event.payload.get("poison"):
            raise RuntimeError("cannot take this in")


def n(stream: str, number: int = 1, **more: object) -> Draft:
    """An event with a number in it."""
    payload: JsonObject = {"n": number, **more}  # type: ignore[dict-item]  # plain JSON
    return Draft(stream=stream, type="n", payload=payload)


def open_log(
    path: Path,
    *,
    projections: Sequence[Projection] = (),
    clock: Clock | None = None,
    on_commit: Callable[[int, int], None] | None = None,
    on_lost: Callable[[CodePlaneError], None] | None = None,
    seal: Seal | None = None,
    **config: int,
) -> SqliteLog:
    """A log, to be closed by whoever opened it."""
    return SqliteLog(
        path=path,
        projections=projections or (Counts(),),
        config=LedgerConfig(**config),
        clock=clock or SystemClock(),
        on_commit=on_commit,
        on_lost=on_lost,
        seal=seal,
    )


@asynccontextmanager
async def opened(
    path: Path,
    *,
    projections: Sequence[Projection] = (),
    clock: Clock | None = None,
    on_commit: Callable[[int, int], None] | None = None,
    on_lost: Callable[[CodePlaneError], None] | None = None,
    seal: Seal | None = None,
    **config: int,
) -> AsyncIterator[SqliteLog]:
    """A log that is closed at the end."""
    log = open_log(
        path, projections=projections, clock=clock, on_commit=on_commit, on_lost=on_lost, seal=seal, **config
    )
    try:
        yield log
    finally:
        await asyncio.to_thread(log.close)


class Hold:
    """Keeps the writer from going on, so that a queue builds up behind it."""

    def __init__(self, log: SqliteLog) -> None:
        self._log = log
        self._reached = threading.Event()
        self._go_on = threading.Event()

    async def __aenter__(self) -> None:
        self._held = asyncio.ensure_future(self._log.command(self._wait))
        await asyncio.to_thread(self._reached.wait)

    async def __aexit__(self, *error: object) -> None:
        self._go_on.set()
        await self._held

    def _wait(self, writing: WriteTransaction) -> None:
        self._reached.set()
        self._go_on.wait()


async def rows(log: SqliteLog, table: str = "counts") -> list[tuple[object, ...]]:
    """A table's rows, when everything queued is written."""
    await log.flush()
    return sorted(await log.select(f"SELECT * FROM {table}"))
