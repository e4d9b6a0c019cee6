"""The registry of trusted clients: named by the owner, each recognised by the hash of its secret."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.event_feed import EventFeed
from codeplane.kernel.ids import digest
from codeplane.kernel.ports import Ledger
from codeplane.ledger.projection import Tables
from codeplane.ledger.rows import Cell

# Retention has no class for these streams: a client stays allowed until it is revoked.
ALLOWED, REVOKED = "client.allowed", "client.revoked"
_COLUMNS = "name, secret_hash, since_ns, allowed_by"
_MAX_SECRET = 200


def client_stream(name: str) -> str:
    """The event stream of one client."""
    return f"client/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweringClient:
    """A client through which a person answers questions."""

    name: str
    secret_hash: str
    since_ns: int
    allowed_by: str

    @classmethod
    def from_row(cls, row: tuple[Cell, ...]) -> "AnsweringClient":
        """The client in a row of the table."""
        name, secret_hash, since_ns, allowed_by = row
        return cls(
            name=str(name), secret_hash=str(secret_hash), since_ns=int(str(since_ns)), allowed_by=str(allowed_by)
        )


class ClientTable:
    """One row for each trusted client."""

    name: ClassVar[str] = "answering_clients"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("answering_clients",)
    types: ClassVar[frozenset[str]] = frozenset({ALLOWED, REVOKED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE answering_clients(
            name TEXT PRIMARY KEY, secret_hash TEXT, since_ns INTEGER, allowed_by TEXT) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == ALLOWED:
            tables.execute(
                "INSERT OR REPLACE INTO answering_clients VALUES (?, ?, ?, ?)",
                (str(payload["name"]), str(payload["secret_hash"]), event.at_ns, event.actor or ""),
            )
        else:
            tables.execute("DELETE FROM answering_clients WHERE name = ?", (str(payload["name"]),))


class ClientRegistry:
    """The clients that are trusted now."""

    def __init__(self) -> None:
        self._clients: dict[str, AnsweringClient] = {}
        self._feed = EventFeed({ALLOWED, REVOKED}, self._apply)

    @property
    def clients(self) -> Mapping[str, AnsweringClient]:
        """The trusted clients by name."""
        return self._clients

    async def restore(self, log: Ledger) -> None:
        """Load the clients from the log's table, and follow what becomes of them."""

        async def load() -> None:
            rows = await log.select(f"SELECT {_COLUMNS} FROM answering_clients")
            self._clients = {client.name: client for client in map(AnsweringClient.from_row, rows)}

        await self._feed.load(log, load)

    def _apply(self, event: Event) -> None:
        name = str(event.payload["name"])
        if event.type == REVOKED:
            self.forget(name)
            return
        self._clients[name] = AnsweringClient(
            name=name,
            secret_hash=str(event.payload["secret_hash"]),
            since_ns=event.at_ns,
            allowed_by=event.actor or "",
        )

    def forget(self, name: str) -> None:
        """Stop trusting a client at once."""
        self._clients.pop(name, None)

    def name_of(self, secret: str | None) -> str | None:
        """The name of the client that holds a secret; None for an unknown or revoked one."""
        if not secret or len(secret) > _MAX_SECRET:
            return None
        secret_hash = digest(secret.encode("utf-8", "backslashreplace")).encode()
        names = [
            client.name
            for client in self._clients.values()
            if hmac.compare_digest(client.secret_hash.encode(), secret_hash)
        ]
        return names[0] if names else None
