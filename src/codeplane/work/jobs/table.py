"""The table of jobs: what each is for; how far it has come is in the row of its work item."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.work.jobs.events import JOB_CALLED_BACK, JOB_CREATED

_PREFIX = "job/"


class JobTable:
    """Jobs by id, thread and trigger."""

    name: ClassVar[str] = "jobs"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("jobs",)
    types: ClassVar[frozenset[str]] = frozenset({JOB_CREATED, JOB_CALLED_BACK, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE jobs(
            job_id TEXT PRIMARY KEY, goal TEXT, thread_id TEXT, turn_id TEXT, trigger_type TEXT, trigger_source_id TEXT,
            scheduled_for_ns INTEGER, changes_files INTEGER, callback_thread_id TEXT, has_called_back INTEGER,
            toolset TEXT, model TEXT, position INTEGER) WITHOUT ROWID""",
        "CREATE INDEX jobs_by_position ON jobs(position)",
        "CREATE INDEX jobs_by_thread ON jobs(thread_id)",
        "CREATE INDEX jobs_by_source ON jobs(trigger_source_id)",
        "CREATE INDEX jobs_to_call_back ON jobs(position) WHERE callback_thread_id IS NOT NULL AND NOT has_called_back",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            _delete_dropped(tables, event.payload)
        elif event.type == JOB_CREATED:
            _insert(tables, event)
        else:
            tables.execute("UPDATE jobs SET has_called_back = 1 WHERE job_id = ?", (_job_id(event),))


def _insert(tables: Tables, event: Event) -> None:
    payload = event.payload
    callback, scheduled_for_ns = payload.get("callback_thread_id"), payload.get("scheduled_for_ns")
    tables.execute(
        f"INSERT OR IGNORE INTO jobs VALUES ({', '.join('?' * 13)})",
        (
            *(_job_id(event), _text(payload, "goal"), _text(payload, "thread_id"), event.correlation.turn_id),
            *(_text(payload, "trigger_type"), _text(payload, "trigger_source_id")),
            scheduled_for_ns if isinstance(scheduled_for_ns, int) else None,
            *(int(bool(payload.get("changes_files"))), None if callback is None else str(callback), 0),
            *(_text(payload, "toolset"), _text(payload, "model"), event.position),
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
