"""The table of marks: who has read untrusted content, since when, and from where."""

from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.ledger.projection import Tables
from codeplane.ledger.rows import Cell

# Retention has no class for this stream: a mark stays until the owner clears it.
STREAM = "untrusted"
MARKED, CLEARED = "untrusted.marked", "untrusted.cleared"
SESSION_CLOSED = "session.closed"
# Subjects that are no identities.
SESSION, WORK, THREAD = "session:", "work:", "thread:"
_FIELDS = ("reader", "actor", "operation", "source", "what")
COLUMNS = "subject, reader, actor, operation, source, what, since_ns"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A subject (an agent's identity, a session, a work item or a thread) that has read untrusted content."""

    subject: str
    # The identity that read it; a session's mark is cleared with its reader's.
    reader: str
    actor: str
    operation: str
    source: str
    what: str
    since_ns: int

    @classmethod
    def from_row(cls, row: tuple[Cell, ...]) -> "Mark":
        """The mark in a row of the table."""
        subject, reader, actor, operation, source, what, since_ns = row
        return cls(
            subject=str(subject),
            reader=str(reader),
            actor=str(actor),
            operation=str(operation),
            source=str(source),
            what=str(what),
            since_ns=int(str(since_ns)),
        )

    @classmethod
    def from_event(cls, subject: str, event: Event) -> "Mark":
        """The mark that an event sets on one of its subjects."""
        reader, actor, operation, source, what = (str(event.payload[name]) for name in _FIELDS)
        return cls(
            subject=subject,
            reader=reader,
            actor=actor,
            operation=operation,
            source=source,
            what=what,
            since_ns=event.at_ns,
        )


class UntrustedTable:
    """One row for each subject; the first mark counts until it is cleared."""

    name: ClassVar[str] = "untrusted"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("untrusted",)
    types: ClassVar[frozenset[str]] = frozenset({MARKED, CLEARED, SESSION_CLOSED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE untrusted(
            subject TEXT PRIMARY KEY, reader TEXT, actor TEXT, operation TEXT, source TEXT, what TEXT,
            since_ns INTEGER) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == SESSION_CLOSED:
            # A closed session is never entered again.
            tables.execute("DELETE FROM untrusted WHERE subject = ?", (f"{SESSION}{event.correlation.session_id}",))
            return
        subjects = payload["subjects"]
        assert isinstance(subjects, list)
        for subject in subjects:
            if event.type == CLEARED:
                tables.execute("DELETE FROM untrusted WHERE subject = ?", (str(subject),))
            else:
                tables.execute(
                    "INSERT OR IGNORE INTO untrusted VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (
                        str(subject),
                        *(str(payload[name]) for name in _FIELDS),
                        event.at_ns,
                    ),
                )
