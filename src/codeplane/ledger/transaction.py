"""The writer's open transaction: it numbers events, stores them and applies what follows from them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field

from codeplane.kernel.clock import Clock
from codeplane.kernel.event import Appended, Draft, Event
from codeplane.kernel.ids import uuid7
from codeplane.ledger.projection import RETENTION_APPLIED, Projector
from codeplane.ledger.recent_events import Committed
from codeplane.ledger.rows import INSERT, Row, to_event, to_row
from codeplane.ledger.stream_deletion import delete_streams


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

    def flush(self) -> None:
        """Write the appended events, and apply the projections."""
        if not self.rows:
            return
        self.connection.executemany(INSERT, self.rows)
        self.connection.executemany(
            """INSERT INTO streams(stream, head, first, last_at_ns, owner) VALUES (?1, ?2, 1, ?3, ?4)
               ON CONFLICT(stream) DO UPDATE SET head = ?2, last_at_ns = ?3""",
            [(stream, *state) for stream, state in self.touched.items()],
        )
        self.connection.execute("UPDATE log_state SET last_position = ?", (self.position,))
        self.projector.apply(self.connection, self.events)
        self.committed += (
            Committed(event, len(str(row[-1]))) for event, row in zip(self.events, self.rows, strict=True)
        )
        self.rows, self.events, self.touched = [], [], {}

    def restore(self, position: int, committed: int) -> None:
        """Go back to an earlier position of this transaction, after what followed was rolled back."""
        self.heads.clear()
        del self.committed[committed:]
        self.position, self.rows, self.events, self.touched = position, [], [], {}
