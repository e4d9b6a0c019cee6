"""The table of deferred calls."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables

DEFERRED, DEFERRED_CANCELLED = "call.deferred", "call.deferred_cancelled"
_PREFIX = "deferred/"


def deferred_stream(deferred_id: str) -> str:
    """The stream of a deferred call."""
    return f"{_PREFIX}{deferred_id}"


class DeferredTable:
    """Deferred calls: whose they are, and how to ask for their outcome again."""

    name: ClassVar[str] = "deferred_calls"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("deferred_calls",)
    types: ClassVar[frozenset[str]] = frozenset({DEFERRED, DEFERRED_CANCELLED, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE deferred_calls(
            deferred_id TEXT PRIMARY KEY, actor TEXT, operation TEXT, payload_hash TEXT, cancel TEXT, arguments TEXT,
            cancelled INTEGER, created_ns INTEGER, updated_ns INTEGER) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == RETENTION_APPLIED:
            streams = payload["streams"]
            assert isinstance(streams, list)
            for stream, _ in streams:
                if stream.startswith(_PREFIX):
                    tables.execute("DELETE FROM deferred_calls WHERE deferred_id = ?", (stream.removeprefix(_PREFIX),))
            return
        deferred_id = event.stream.removeprefix(_PREFIX)
        if event.type == DEFERRED_CANCELLED:
            tables.execute(
                "UPDATE deferred_calls SET cancelled = 1, updated_ns = ? WHERE deferred_id = ?",
                (event.at_ns, deferred_id),
            )
            return
        arguments = payload.get("arguments")
        tables.execute(
            "INSERT OR IGNORE INTO deferred_calls VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)",
            (
                *(deferred_id, dumps(payload["actor"]), str(payload["operation"])),
                *(str(payload.get("payload_hash") or ""), str(payload.get("cancel") or "")),
                *(dumps(arguments) if arguments is not None else "", event.at_ns, event.at_ns),
            ),
        )
