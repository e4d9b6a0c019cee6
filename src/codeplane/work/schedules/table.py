"""The tables of schedules: a row for each schedule, and for each of its wake-ups."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.ledger.rows import Cell
from codeplane.work.schedules.events import (
    SCHEDULE_CREATED,
    SCHEDULE_DELETED,
    SCHEDULE_STOPPED,
    SCHEDULE_UPDATED,
    WAKEUP_CREATED,
    WAKEUP_FAILED,
    WAKEUP_RESCHEDULED,
    WAKEUP_STARTED,
)
from codeplane.work.schedules.schedule import SCHEDULE_COLUMNS, WAKEUP_COLUMNS, WakeupKind, WakeupState

_DEFINITION, _WAKEUPS = "schedule/", "wakeup/"
# What a definition says, by the names of its columns.
_FIELDS = (
    *("name", "trigger_kind", "trigger_spec", "timezone", "enabled", "next_ns", "anchor_ns", "goal", "thread_id"),
    *("owns_thread", "max_tool_steps", "max_tool_tokens", "max_context_messages", "max_wall_time_ms", "heartbeat"),
    *("changes_files", "missed_policy", "overlap_policy"),
)


class ScheduleTable:
    """Schedules by when they are due next, and the wake-ups of each."""

    name: ClassVar[str] = "schedules"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("schedules", "wakeups")
    types: ClassVar[frozenset[str]] = frozenset(
        {
            *(SCHEDULE_CREATED, SCHEDULE_UPDATED, SCHEDULE_DELETED, SCHEDULE_STOPPED),
            *(WAKEUP_CREATED, WAKEUP_STARTED, WAKEUP_FAILED, WAKEUP_RESCHEDULED, RETENTION_APPLIED),
        }
    )
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE schedules(
            schedule_id TEXT PRIMARY KEY, name TEXT, trigger_kind TEXT, trigger_spec TEXT, timezone TEXT,
            enabled INTEGER, next_ns INTEGER, last_ns INTEGER, last_wakeup_id TEXT, anchor_ns INTEGER, goal TEXT,
            thread_id TEXT, owns_thread INTEGER, max_tool_steps INTEGER, max_tool_tokens INTEGER,
            max_context_messages INTEGER, max_wall_time_ms INTEGER, heartbeat INTEGER, changes_files INTEGER,
            missed_policy TEXT, overlap_policy TEXT, created_by TEXT, on_behalf_of TEXT, node TEXT, stop_reason TEXT,
            runs INTEGER, skipped INTEGER, missed INTEGER, created_ns INTEGER, updated_ns INTEGER, position INTEGER)
            WITHOUT ROWID""",
        "CREATE INDEX schedules_by_next ON schedules(next_ns) WHERE enabled",
        "CREATE INDEX schedules_by_position ON schedules(position)",
        """CREATE TABLE wakeups(
            wakeup_id TEXT PRIMARY KEY, schedule_id TEXT, scheduled_ns INTEGER, kind TEXT, state TEXT, older INTEGER,
            is_counted INTEGER, job_id TEXT, turn_id TEXT, reason TEXT, created_ns INTEGER, sequence INTEGER)
            WITHOUT ROWID""",
        "CREATE INDEX wakeups_by_schedule ON wakeups(schedule_id, sequence)",
        "CREATE INDEX wakeups_by_time ON wakeups(scheduled_ns)",
        "CREATE INDEX wakeups_to_start ON wakeups(wakeup_id) WHERE state = 'CREATED'",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            _delete_dropped(tables, event.payload)
        elif event.stream.startswith(_DEFINITION):
            _define(tables, event.stream.removeprefix(_DEFINITION), event)
        elif event.stream.startswith(_WAKEUPS):
            _wake(tables, event.stream.removeprefix(_WAKEUPS), event)


def _define(tables: Tables, schedule_id: str, event: Event) -> None:
    payload = event.payload
    if event.type == SCHEDULE_CREATED:
        values: dict[str, Cell] = {
            "schedule_id": schedule_id,
            **{name: _cell(payload, name) for name in _FIELDS},
            "created_by": event.actor,
            "on_behalf_of": dumps(payload["on_behalf_of"]),
            "node": event.node,
            "stop_reason": "",
            **dict.fromkeys(("runs", "skipped", "missed"), 0),
            **dict.fromkeys(("created_ns", "updated_ns"), event.at_ns),
        }
        cells = (*(values.get(name.strip()) for name in SCHEDULE_COLUMNS.split(",")), event.position)
        marks = ", ".join("?" * len(cells))
        tables.execute(f"INSERT OR IGNORE INTO schedules({SCHEDULE_COLUMNS}, position) VALUES ({marks})", cells)
    elif event.type == SCHEDULE_UPDATED:
        names = [name for name in _FIELDS if name in payload]
        changes = "".join(f"{name} = ?, " for name in names)
        tables.execute(
            f"UPDATE schedules SET {changes}stop_reason = '', updated_ns = ? WHERE schedule_id = ?",
            (*(_cell(payload, name) for name in names), event.at_ns, schedule_id),
        )
    elif event.type == SCHEDULE_STOPPED:
        tables.execute(
            "UPDATE schedules SET enabled = 0, next_ns = NULL, stop_reason = ?, updated_ns = ? WHERE schedule_id = ?",
            (str(payload["reason"]), event.at_ns, schedule_id),
        )
    else:
        tables.execute("DELETE FROM schedules WHERE schedule_id = ?", (schedule_id,))
        tables.execute("DELETE FROM wakeups WHERE schedule_id = ?", (schedule_id,))


def _wake(tables: Tables, schedule_id: str, event: Event) -> None:
    payload = event.payload
    if event.type == WAKEUP_CREATED:
        _add_wakeup(tables, schedule_id, event)
    elif event.type == WAKEUP_RESCHEDULED:
        tables.execute(
            "UPDATE schedules SET next_ns = ?, enabled = enabled AND ? IS NOT NULL WHERE schedule_id = ?",
            (_cell(payload, "next_ns"), _cell(payload, "next_ns"), schedule_id),
        )
    else:
        state = WakeupState.STARTED if event.type == WAKEUP_STARTED else WakeupState.FAILED
        tables.execute(
            "UPDATE wakeups SET state = ?, job_id = ?, turn_id = ?, reason = ? WHERE wakeup_id = ?",
            (
                *(state.value, str(payload.get("job_id") or ""), str(payload.get("turn_id") or "")),
                *(str(payload.get("reason") or ""), str(payload["wakeup_id"])),
            ),
        )


def _add_wakeup(tables: Tables, schedule_id: str, event: Event) -> None:
    payload = event.payload
    state, is_manual = str(payload["state"]), payload["kind"] == WakeupKind.MANUAL.value
    scheduled_ns, older = int(str(payload["scheduled_ns"])), int(str(payload["older"]))
    tables.execute(
        f"INSERT OR IGNORE INTO wakeups({WAKEUP_COLUMNS}, sequence) VALUES (?, ?, ?, ?, ?, ?, ?, '', '', ?, ?, ?)",
        (
            *(event.event_id, schedule_id, scheduled_ns, str(payload["kind"]), state, older),
            *(int(bool(payload["is_counted"])), str(payload.get("reason") or ""), event.at_ns, event.sequence),
        ),
    )
    is_run = state == WakeupState.CREATED.value
    tables.execute(
        """UPDATE schedules SET runs = runs + ?, skipped = skipped + ?, missed = missed + ?,
           last_ns = CASE WHEN ? THEN ? ELSE last_ns END, last_wakeup_id = CASE WHEN ? THEN ? ELSE last_wakeup_id END
           WHERE schedule_id = ?""",
        (
            *(int(is_run), int(state == WakeupState.SKIPPED.value), older + int(state == WakeupState.MISSED.value)),
            *(is_run, scheduled_ns, is_run, event.event_id, schedule_id),
        ),
    )
    if not is_manual:
        # The last time of a schedule disables it.
        next_ns = _cell(payload, "next_ns")
        tables.execute(
            "UPDATE schedules SET next_ns = ?, enabled = enabled AND ? IS NOT NULL WHERE schedule_id = ?",
            (next_ns, next_ns, schedule_id),
        )


def _delete_dropped(tables: Tables, payload: JsonObject) -> None:
    streams = payload["streams"]
    assert isinstance(streams, list)
    for stream, first in streams:
        if stream.startswith(_WAKEUPS):
            tables.execute(
                "DELETE FROM wakeups WHERE schedule_id = ? AND sequence < ?", (stream.removeprefix(_WAKEUPS), first)
            )


def _cell(payload: JsonObject, name: str) -> Cell:
    value = payload.get(name)
    assert value is None or isinstance(value, (str, int, float))
    return int(value) if isinstance(value, bool) else value
