"""The writer's open transaction: it numbers events, stores them and applies what follows from them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import TooLarge
from codeplane.kernel.event import Appended, Draft, Event, SealedPayload
from codeplane.kernel.ids import uuid7
from codeplane.ledger.merged_inserts import SIZES, insert_rows
from codeplane.ledger.projection import RETENTION_APPLIED, Projector
from codeplane.ledger.recent_events import Committed
from codeplane.ledger.rows import Row, insert_statement, to_event, to_row
from codeplane.ledger.stream_deletion import delete_streams

_EVENTS = {size: insert_statement(size) for size in SIZES}
_STREAMS = {
    size: f"""INSERT INTO streams(stream, head, last_at_ns, owner, first) VALUES {", ".join(["(?, ?, ?, ?, 1)"] * size)}
              ON CONFLICT(stream) DO UPDATE SET head = excluded.head, last_at_ns = excluded.last_at_ns"""
    for size in SIZES
}
_PAYLOADS = {
    size: f"INSERT OR IGNORE INTO payloads(work_id, hash, size, data) VALUES {', '.join(['(?, ?, ?, ?)'] * size)}"
    for size in SIZES
}


@dataclass(slots=True, kw_only=True)
class WriteTransaction:
    """The open transaction, which assigns sequences and positions."""

    connection: sqlite3.Connection
    projector: Projector
    heads: dict[str, int]
    position: int
    clock: Clock
    # The shared log's last batch that is applied here, and the node whose batch is being applied.
    shared_offset: int = 0
    node: str = ""
    rows: list[Row] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    committed: list[Committed] = field(default_factory=list)
    # At least how many bytes the payloads of an owner have, as far as that is known.
    payload_bytes: dict[str, int] = field(default_factory=dict)
    payload_rows: list[Row] = field(default_factory=list)
    # The head, the time and the first writer of each stream that was appended to.
    touched: dict[str, tuple[int, int, str]] = field(default_factory=dict)

    def head(self, stream: str) -> int:
        """The stream's last sequence."""
        head = self.heads.get(stream)
        if head is None:
            row = self.connection.execute("SELECT head FROM streams WHERE stream = ?", (stream,)).fetchone()
            head = self.heads[stream] = int(row[0]) if row else 0
        return head

    def append(self, drafts: Sequence[Draft], payloads: Sequence[str]) -> Appended:
        """Append the drafts to their streams."""
        sequences: list[int] = []
        for draft, payload in zip(drafts, payloads, strict=True):
            at_ns = self.clock.now_ns() if draft.at_ns is None else draft.at_ns
            self.position += 1
            sequence = self.heads[draft.stream] = self.head(draft.stream) + 1
            event = to_event(
                draft,
                event_id=draft.event_id or uuid7(),
                sequence=sequence,
                position=self.position,
                at_ns=at_ns,
                node=self.node,
            )
            self.rows.append(to_row(event, payload))
            self.events.append(event)
            begun_by = self.touched[draft.stream][2] if draft.stream in self.touched else draft.actor
            self.touched[draft.stream] = (sequence, at_ns, begun_by)
            sequences.append(sequence)
            if draft.type == RETENTION_APPLIED:
                # At its place in the log, however many appends share the transaction.
                self.flush()
                for stream in delete_streams(self.connection, self.projector.projections, event):
                    self.heads.pop(stream, None)
        return Appended(last_position=self.position, sequences=tuple(sequences))

    def store_payload(self, sealed: SealedPayload) -> TooLarge | None:
        """Store a payload, or return why it is too large."""
        used = self.payload_bytes.get(sealed.owner)
        if used is None or used + sealed.size > sealed.limit:
            # What is stored twice was counted twice.
            used = self._count_payload_bytes(sealed)
        if used + sealed.size > sealed.limit:
            return TooLarge(
                f"the payloads of {sealed.owner} would have {used + sealed.size} bytes",
                details={"limit": sealed.limit, "used": used},
            )
        self.payload_bytes[sealed.owner] = used + sealed.size
        self.payload_rows.append((sealed.owner, sealed.hash, sealed.size, sealed.data))
        return None

    def _count_payload_bytes(self, sealed: SealedPayload) -> int:
        """How many bytes the owner's other payloads have."""
        self._write_payloads()
        (used,) = self.connection.execute(
            "SELECT coalesce(sum(size), 0) FROM payloads WHERE work_id = ? AND hash != ?", (sealed.owner, sealed.hash)
        ).fetchone()
        return int(used)

    def _write_payloads(self) -> None:
        if self.payload_rows:
            insert_rows(self.connection, _PAYLOADS, self.payload_rows)
            self.payload_rows = []

    def flush(self) -> None:
        """Write the appended events, and apply the projections."""
        self._write_payloads()
        if not self.rows:
            return
        insert_rows(self.connection, _EVENTS, self.rows)
        insert_rows(self.connection, _STREAMS, [(stream, *state) for stream, state in self.touched.items()])
        self.connection.execute("UPDATE log_state SET last_position = ?", (self.position,))
        self.projector.apply(self.connection, self.events)
        self.committed += (
            Committed(event, len(str(row[-1]))) for event, row in zip(self.events, self.rows, strict=True)
        )
        self.rows, self.events, self.touched = [], [], {}

    def restore(self, position: int, committed: int) -> None:
        """Go back to an earlier position of this transaction, after what followed was rolled back."""
        self.heads.clear()
        self.payload_bytes.clear()
        self.projector.forget_position()
        del self.committed[committed:]
        self.position, self.rows, self.events, self.touched, self.payload_rows = position, [], [], {}, []
