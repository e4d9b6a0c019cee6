"""The table of jobs: what each is for; how far it has come is in the row of its work item."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.ledger.rows import Cell
from codeplane.work.jobs.events import (
    JOB_CALLED_BACK,
    JOB_CREATED,
    TREE_APPLIED,
    TREE_DISCARDED,
    TREE_FINISHED,
    TREE_OPENED,
)
from codeplane.work.jobs.job import TreeState

_PREFIX = "job/"


class JobTable:
    """Jobs by id, thread and trigger."""

    name: ClassVar[str] = "jobs"
    version: ClassVar[int] = 3
    tables: ClassVar[tuple[str, ...]] = ("jobs",)
    types: ClassVar[frozenset[str]] = frozenset(
        {JOB_CREATED, JOB_CALLED_BACK, TREE_OPENED, TREE_FINISHED, TREE_APPLIED, TREE_DISCARDED, RETENTION_APPLIED}
    )
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE jobs(
            job_id TEXT PRIMARY KEY, goal TEXT, thread_id TEXT, turn_id TEXT, trigger_type TEXT, trigger_source_id TEXT,
            scheduled_for_ns INTEGER, changes_files INTEGER, callback_thread_id TEXT, has_called_back INTEGER,
            toolset TEXT, model TEXT, tree TEXT, base_commit TEXT, changed_files INTEGER, mutation_id TEXT,
            agent TEXT, position INTEGER) WITHOUT ROWID""",
        "CREATE INDEX jobs_by_position ON jobs(position)",
        "CREATE INDEX jobs_by_thread ON jobs(thread_id)",
        "CREATE INDEX jobs_by_source ON jobs(trigger_source_id)",
        "CREATE INDEX jobs_with_trees ON jobs(tree) WHERE tree = 'JOB_TREE_OPEN'",
        "CREATE INDEX jobs_to_call_back ON jobs(position) WHERE callback_thread_id IS NOT NULL AND NOT has_called_back",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            _delete_dropped(tables, event.payload)
        elif event.type == JOB_CREATED:
            _insert(tables, event)
        else:
            assignments, values = _change(event)
            tables.execute(f"UPDATE jobs SET {assignments} WHERE job_id = ?", (*values, _job_id(event)))


def _change(event: Event) -> tuple[str, tuple[Cell, ...]]:
    """What an event changes in the row of its job."""
    payload = event.payload
    match event.type:
        case kind if kind == TREE_OPENED:
            return "tree = ?, base_commit = ?", (TreeState.OPEN.value, _text(payload, "base_commit"))
        case kind if kind == TREE_FINISHED:
            return "changed_files = ?", (int(str(payload["files"])),)
        case kind if kind == TREE_APPLIED:
            return "tree = ?, mutation_id = ?", (TreeState.APPLIED.value, _text(payload, "mutation_id"))
        case kind if kind == TREE_DISCARDED:
            return "tree = ?", (TreeState.DISCARDED.value,)
        case _:
            return "has_called_back = 1", ()


def _insert(tables: Tables, event: Event) -> None:
    payload = event.payload
    callback, scheduled_for_ns = payload.get("callback_thread_id"), payload.get("scheduled_for_ns")
    tables.execute(
        f"INSERT OR IGNORE INTO jobs VALUES ({', '.join('?' * 18)})",
        (
            *(_job_id(event), _text(payload, "goal"), _text(payload, "thread_id"), event.correlation.turn_id),
            *(_text(payload, "trigger_type"), _text(payload, "trigger_source_id")),
            scheduled_for_ns if isinstance(scheduled_for_ns, int) else None,
            *(int(bool(payload.get("changes_files"))), None if callback is None else str(callback), 0),
            *(_text(payload, "toolset"), _text(payload, "model"), TreeState.NONE.value, "", None, ""),
            *(_text(payload, "agent"), event.position),
        ),
    )


def _delete_dropped(tables: Tables, payload: JsonObject) -> None:
    streams = payload["streams"]
    assert isinstance(streams, list)
    for stream, _ in streams:
        if stream.startswith(_PREFIX):
            tables.execute("DELETE FROM jobs WHERE job_id = ?", (stream.removeprefix(_PREFIX),))


def _job_id(event: Event) -> str:
    return event.stream.removeprefix(_PREFIX)


def _text(payload: JsonObject, name: str) -> str:
    return str(payload.get(name) or "")
