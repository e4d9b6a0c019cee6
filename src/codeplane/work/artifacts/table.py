"""The tables of artifacts: a row for each, and one for each part of its body."""

from typing import ClassVar

from codeplane.kernel.event import Event
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.work.artifacts.artifact import COLUMNS, body_owner

CREATED, EXTENDED, DELETED = "artifact.created", "artifact.extended", "artifact.deleted"
_PREFIX = "artifact/"


def artifact_stream(artifact_id: str) -> str:
    """The stream of an artifact."""
    return f"{_PREFIX}{artifact_id}"


class ArtifactTable:
    """Artifacts that have not been deleted, by themselves or by retention."""

    name: ClassVar[str] = "artifacts"
    version: ClassVar[int] = 2
    tables: ClassVar[tuple[str, ...]] = ("artifacts", "artifact_parts")
    types: ClassVar[frozenset[str]] = frozenset({CREATED, EXTENDED, DELETED, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE artifacts(
            artifact_id TEXT PRIMARY KEY, thread_id TEXT, name TEXT, description TEXT, media_type TEXT, size INTEGER,
            created_by TEXT, work_id TEXT, untrusted INTEGER, created_ns INTEGER, updated_ns INTEGER,
            position INTEGER) WITHOUT ROWID""",
        "CREATE INDEX artifacts_by_thread ON artifacts(thread_id, position)",
        "CREATE INDEX artifacts_by_position ON artifacts(position)",
        """CREATE TABLE artifact_parts(
            artifact_id TEXT, start INTEGER, size INTEGER, payload_owner TEXT, payload_hash TEXT,
            PRIMARY KEY(artifact_id, start)) WITHOUT ROWID""",
        "CREATE INDEX artifact_parts_by_payload ON artifact_parts(payload_owner, payload_hash)",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            _delete_dropped(tables, event)
            return
        artifact_id = event.stream.removeprefix(_PREFIX)
        if event.type == DELETED:
            _delete(tables, artifact_id)
            return
        payload = event.payload
        if event.type == CREATED:
            marks = ", ".join("?" * len(COLUMNS.split(",")))
            tables.execute(
                f"INSERT OR IGNORE INTO artifacts({COLUMNS}) VALUES ({marks})",
                (
                    *(artifact_id, event.correlation.thread_id, str(payload["name"]), str(payload["description"])),
                    *(str(payload["media_type"]), 0, event.actor, event.correlation.work_id),
                    *(int(bool(payload["untrusted"])), event.at_ns, event.at_ns, event.position),
                ),
            )
        size, start = int(str(payload["size"])), int(str(payload["start"]))
        owner = str(payload.get("payload_owner") or body_owner(event.correlation.thread_id))
        tables.execute(
            "INSERT OR IGNORE INTO artifact_parts VALUES (?, ?, ?, ?, ?)",
            (artifact_id, start, size, owner, str(payload["payload_hash"])),
        )
        tables.execute(
            "UPDATE artifacts SET size = ?, updated_ns = ?, untrusted = max(untrusted, ?) WHERE artifact_id = ?",
            (start + size, event.at_ns, int(bool(payload.get("untrusted"))), artifact_id),
        )


def _delete_dropped(tables: Tables, event: Event) -> None:
    streams = event.payload["streams"]
    assert isinstance(streams, list)
    for stream, _ in streams:
        if stream.startswith(_PREFIX):
            _delete(tables, stream.removeprefix(_PREFIX))


def _delete(tables: Tables, artifact_id: str) -> None:
    for table in ("artifacts", "artifact_parts"):
        tables.execute(f"DELETE FROM {table} WHERE artifact_id = ?", (artifact_id,))
