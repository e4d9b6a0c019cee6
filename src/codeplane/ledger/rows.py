"""Events as rows of the log's table, and back."""

import json
from typing import TypeAlias

from codeplane.kernel.errors import LedgerCorrupt
from codeplane.kernel.event import NO_CORRELATION, ContentTrust, Correlation, Draft, Event, Source

Cell: TypeAlias = str | int | float | bytes | None
Row: TypeAlias = tuple[Cell, ...]

COLUMNS = (
    "position, stream, sequence, event_id, type, schema, at_ns, actor, source, content_trust, "
    "session_id, call_id, task_id, thread_id, turn_id, job_id, work_id, node, payload"
)

MARKS = ", ".join("?" * 19)

_SOURCES = {member.value: member for member in Source}
_TRUSTS = {member.value: member for member in ContentTrust}


def insert_statement(rows: int, *, on_conflict: str = "FAIL") -> str:
    """The statement that adds so many events; when it fails, the transaction is given up, so that SQLite need not be
    able to undo it alone."""
    return f"INSERT OR {on_conflict} INTO events({COLUMNS}) VALUES {', '.join([f'({MARKS})'] * rows)}"


def to_event(draft: Draft, *, event_id: str, sequence: int, position: int, at_ns: int, node: str = "") -> Event:
    """A draft with its place in the log."""
    return Event(
        event_id=event_id,
        stream=draft.stream,
        sequence=sequence,
        position=position,
        type=draft.type,
        schema=draft.schema,
        at_ns=at_ns,
        actor=draft.actor,
        source=draft.source,
        content_trust=draft.content_trust,
        correlation=draft.correlation,
        payload=draft.payload,
        node=node,
    )


def to_row(event: Event, payload: str) -> Row:
    """The event's row, with its payload already encoded."""
    ids = event.correlation
    return (
        event.position,
        event.stream,
        event.sequence,
        event.event_id,
        event.type,
        event.schema,
        event.at_ns,
        event.actor,
        str(event.source),
        str(event.content_trust),
        ids.session_id,
        ids.call_id,
        ids.task_id,
        ids.thread_id,
        ids.turn_id,
        ids.job_id,
        ids.work_id,
        event.node or None,
        payload,
    )


def from_row(row: tuple[object, ...]) -> Event:
    """The event in a row; LedgerCorrupt when it is damaged in a way that SQLite does not detect."""
    try:
        return _event(row)
    except (ValueError, KeyError) as error:
        raise LedgerCorrupt(f"the event at position {row[0]} cannot be read") from error


def _event(row: tuple[object, ...]) -> Event:
    (position, stream, sequence, event_id, kind, schema, at_ns, actor, source, trust, *ids, node, payload) = row
    correlation = NO_CORRELATION
    if any(ids):
        session_id, call_id, task_id, thread_id, turn_id, job_id, work_id = (None if i is None else str(i) for i in ids)
        correlation = Correlation(
            session_id=session_id,
            call_id=call_id,
            task_id=task_id,
            thread_id=thread_id,
            turn_id=turn_id,
            job_id=job_id,
            work_id=work_id,
        )
    return Event(
        event_id=str(event_id),
        stream=str(stream),
        sequence=int(str(sequence)),
        position=int(str(position)),
        type=str(kind),
        schema=int(str(schema)),
        at_ns=int(str(at_ns)),
        actor=str(actor),
        source=_SOURCES[str(source)],
        content_trust=_TRUSTS[str(trust)],
        correlation=correlation,
        payload=json.loads(str(payload)),
        node="" if node is None else str(node),
    )
