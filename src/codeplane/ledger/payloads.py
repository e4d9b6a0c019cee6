"""What work saw, planned and made, whole: sealed, by hash, bounded for each owner, kept as long as the owner is."""

import sqlite3
from typing import cast

from codeplane.kernel.event import SealedPayload
from codeplane.kernel.ids import digest
from codeplane.ledger.blobs import Seal
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.transaction import WriteTransaction

# Up to this size a payload is read at once: the way to another thread takes longer.
_SMALL_BYTES = 64 * 1024
_SMALL_PAYLOAD = "SELECT CASE WHEN size <= ? THEN data END FROM payloads WHERE work_id = ? AND hash = ?"


class PayloadStore:
    """The payloads of work items; events carry their hashes and a redacted form."""

    def __init__(self, *, log: SqliteLog, seal: Seal, max_bytes: int) -> None:
        """`max_bytes` is the bound for all payloads of one item."""
        self._log = log
        self._seal = seal
        self._max_bytes = max_bytes

    async def put(self, work_id: str, data: bytes) -> str:
        """Store a payload of an item and return its hash when it is durable; TooLarge beyond the item's bound."""
        sealed = self.seal(work_id, data)
        await self._log.store_payload(sealed)
        return sealed.hash

    def seal(self, work_id: str, data: bytes) -> SealedPayload:
        """A payload of an item, to be stored by the append of the events that have its hash."""
        key = digest(data)
        return SealedPayload(
            owner=work_id,
            hash=key,
            size=len(data),
            data=self._seal.seal(data, _label(work_id, key)),
            limit=self._max_bytes,
        )

    async def get(self, work_id: str, key: str) -> bytes | None:
        """The payload of an item by its hash, or None."""
        rows = self._log.lookup(_SMALL_PAYLOAD, (_SMALL_BYTES, work_id, key))
        if not rows:
            return None
        data = rows[0][0]
        if data is None:
            data = await self._log.readers.run(lambda connection: _load(connection, work_id, key))
        return None if data is None else self._seal.open(cast(bytes, data), _label(work_id, key))

    async def delete(self, work_id: str, key: str) -> None:
        """Delete a payload of an item, if it is there."""

        def delete(writing: WriteTransaction) -> int:
            return writing.connection.execute(
                "DELETE FROM payloads WHERE work_id = ? AND hash = ?", (work_id, key)
            ).rowcount

        await self._log.command(delete)

    async def delete_orphans(self) -> int:
        """Delete the payloads of items, artifacts and deferred calls that are in no table, and of actions that nothing
        is waited for; returns how many."""

        def delete(writing: WriteTransaction) -> int:
            return writing.connection.execute(
                """DELETE FROM payloads WHERE work_id NOT IN (SELECT work_id FROM work_items) AND NOT EXISTS (
                   SELECT 1 FROM artifact_parts p WHERE p.payload_owner = work_id AND p.payload_hash = hash)
                   AND work_id NOT IN (SELECT deferred_id FROM deferred_calls)
                   AND work_id NOT IN (SELECT action_id FROM actions WHERE status IN ('PENDING', 'APPROVED'))"""
            ).rowcount

        return int(str(await self._log.command(delete)))


def _load(connection: sqlite3.Connection, work_id: str, key: str) -> bytes | None:
    row = connection.execute("SELECT data FROM payloads WHERE work_id = ? AND hash = ?", (work_id, key)).fetchone()
    return bytes(row[0]) if row else None


def _label(work_id: str, key: str) -> str:
    return f"{work_id}/{key}"
