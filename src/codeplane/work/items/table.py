"""The table of work items: a row for each, moved on by the events of its stream."""

from typing import ClassVar

from codeplane.kernel.call_record import CALL_FINISHED, COUNTS_AS_STEP, WORK_STEPPED
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.ledger.rows import Cell
from codeplane.work.items.item import COLUMNS, Priority

CREATED, LEASED, WAITING, RESUMED = "work.created", "work.leased", "work.waiting", "work.resumed"
COMPLETED, FAILED, CANCELLED = "work.completed", "work.failed", "work.cancelled"
_STATES = {
    LEASED: "RUNNING",
    WAITING: "WAITING",
    RESUMED: "QUEUED",
    COMPLETED: "COMPLETED",
    FAILED: "FAILED",
    CANCELLED: "CANCELLED",
}
_PREFIX = "work/"
# Microseconds since the last event of an item that runs, else 0; a clock that was set back counts as nothing.
_SINCE_LAST = "coalesce(max(0, ?1 - running_ns) / 1000, 0)"


class WorkTable:
    """Work items by id, state and parent."""

    name: ClassVar[str] = "work_items"
    version: ClassVar[int] = 3
    tables: ClassVar[tuple[str, ...]] = ("work_items",)
    types: ClassVar[frozenset[str]] = frozenset({CREATED, WORK_STEPPED, CALL_FINISHED, RETENTION_APPLIED, *_STATES})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE work_items(
            work_id TEXT PRIMARY KEY, kind TEXT, title TEXT, state TEXT, parent_id TEXT, created_by TEXT,
            on_behalf_of TEXT, waits_for TEXT, action_id TEXT, holder TEXT, lease_until_ns INTEGER, attempt INTEGER,
            steps_done INTEGER, steps_total INTEGER, used_us INTEGER, ran_us INTEGER, running_ns INTEGER,
            priority INTEGER, max_steps INTEGER, max_seconds REAL, payload_hash TEXT, created_ns INTEGER,
            updated_ns INTEGER, error TEXT, message TEXT, sequence INTEGER, position INTEGER) WITHOUT ROWID""",
        "CREATE INDEX work_items_by_state ON work_items(state, priority, position)",
        "CREATE INDEX work_items_by_position ON work_items(position)",
        "CREATE INDEX work_items_by_parent ON work_items(parent_id) WHERE parent_id IS NOT NULL",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == RETENTION_APPLIED:
            _delete_dropped(tables, payload)
            return
        work_id = event.stream.removeprefix(_PREFIX)
        if event.type == CREATED:
            _insert(tables, work_id, event)
        elif event.type == WORK_STEPPED:
            _count_step(tables, work_id, event, _number(payload, "step"), sequence=event.sequence)
        elif event.type == CALL_FINISHED:
            origin = payload.get("origin")
            if payload.get(COUNTS_AS_STEP) and isinstance(origin, dict):
                _count_step(tables, str(event.correlation.work_id), event, _number(origin, "step"), sequence=0)
        else:
            _move_on(tables, work_id, event)


def _count_step(tables: Tables, work_id: str, event: Event, step: int, *, sequence: int) -> None:
    """Count a step; `sequence` is the new head of the item's stream where the step is an event of it, else 0."""
    tables.execute(
        f"""UPDATE work_items SET steps_done = max(steps_done, ?2), used_us = used_us + ?3,
            ran_us = ran_us + {_SINCE_LAST}, running_ns = CASE WHEN running_ns IS NULL THEN NULL ELSE ?1 END,
            updated_ns = ?1, sequence = max(sequence, ?4) WHERE work_id = ?5""",
        (event.at_ns, step + 1, _number(event.payload, "duration_us"), sequence, work_id),
    )


def _insert(tables: Tables, work_id: str, event: Event) -> None:
    payload = event.payload
    cells: tuple[Cell, ...] = (
        *(work_id, _text(payload, "kind"), _text(payload, "title"), "QUEUED", _text(payload, "parent_id")),
        *(event.actor, dumps(payload["on_behalf_of"]), None, None, None, 0, 0, 0, _number(payload, "steps_total"), 0),
        *(
            0,
            _priority(payload),
            _number(payload, "max_steps"),
            float(str(payload["max_seconds"])),
            _text(payload, "payload_hash"),
        ),
        *(event.at_ns, event.at_ns, None, None, event.sequence, event.position),
    )
    marks = ", ".join("?" * len(cells))
    tables.execute(f"INSERT OR IGNORE INTO work_items({COLUMNS}, position) VALUES ({marks})", cells)


def _priority(payload: JsonObject) -> int:
    """The priority of an item; those of earlier versions have it by their kind."""
    default = Priority.CHAT if payload.get("kind") == "turn" else Priority.JOB
    return int(str(payload.get("priority", default.value)))


def _move_on(tables: Tables, work_id: str, event: Event) -> None:
    payload = event.payload
    # Between a kill and the next attempt nothing ran.
    tables.execute(
        f"""UPDATE work_items SET ran_us = ran_us + CASE WHEN ?2 != attempt THEN 0 ELSE {_SINCE_LAST} END,
            running_ns = ?3, state = ?4, waits_for = ?5, action_id = ?6, holder = ?7, lease_until_ns = ?8,
            attempt = coalesce(?2, attempt), max_steps = coalesce(?9, max_steps),
            max_seconds = coalesce(?10, max_seconds), error = ?11, message = ?12, updated_ns = ?1, sequence = ?13
            WHERE work_id = ?14""",
        (
            *(event.at_ns, _cell(payload, "attempt"), event.at_ns if event.type == LEASED else None),
            *(_STATES[event.type], _text(payload, "waits_for"), _text(payload, "action_id"), _text(payload, "holder")),
            *(_number(payload, "until_ns"), _cell(payload, "max_steps"), _cell(payload, "max_seconds")),
            *(_text(payload, "error"), _text(payload, "message"), event.sequence, work_id),
        ),
    )


def _delete_dropped(tables: Tables, payload: JsonObject) -> None:
    streams = payload["streams"]
    assert isinstance(streams, list)
    for stream, _ in streams:
        if stream.startswith(_PREFIX):
            tables.execute("DELETE FROM work_items WHERE work_id = ?", (stream.removeprefix(_PREFIX),))


def _cell(payload: JsonObject, name: str) -> int | float | None:
    value = payload.get(name)
    assert value is None or isinstance(value, (int, float))
    return value


def _text(payload: JsonObject, name: str) -> str | None:
    value = payload.get(name)
    return None if value is None else str(value)


def _number(payload: JsonObject, name: str) -> int:
    return int(str(payload.get(name) or 0))
