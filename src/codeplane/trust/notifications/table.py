"""Notifications as tables: the notifications, and which of them each person has read."""

from typing import ClassVar

from codeplane.kernel.call_record import refusal_status
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.ledger.projection import RETENTION_APPLIED, Tables

READ, REACHED_OUT = "notification.read", "reach_out.queued"
STREAM = "notification"
MAX_KEPT = 10_000
_SUMMARY = 300

# Events that notify a person: the notification's type, its resource kind, and the payload field with the resource's id.
KINDS: dict[str, tuple[str, str, str]] = {
    "action.created": ("PENDING_APPROVAL_CREATED", "action", "action_id"),
    "action.expiring": ("APPROVAL_EXPIRING_SOON", "action", "action_id"),
    "job.completed": ("JOB_COMPLETED", "job", "job_id"),
    "job.failed": ("JOB_FAILED", "job", "job_id"),
    "job.paused": ("JOB_PAUSED", "job", "job_id"),
    "skill.proposed": ("PROACTIVE_REACH_OUT", "proposal", "proposal_id"),
    "improvement.proposed": ("PROACTIVE_REACH_OUT", "proposal", "proposal_id"),
    "schedule.stopped": ("PROACTIVE_REACH_OUT", "schedule", "schedule_id"),
    REACHED_OUT: ("PROACTIVE_REACH_OUT", "thread", "thread_id"),
}
_SETTLED = frozenset({"action.approved", "action.rejected", "action.expired"})


def is_notification(event: Event) -> bool:
    """Whether a person is notified of an event: not of what a remembered answer settled, nor of copies in threads."""
    if event.payload.get("remembered"):
        return False
    return event.type in KINDS and (event.type == REACHED_OUT or not event.stream.startswith("thread/"))


def notification_id(event: Event) -> str:
    """The id of the notification that an event is."""
    return f"note_{event.event_id}"


class NotificationTable:
    """The newest notifications, and when each person read them."""

    name: ClassVar[str] = "notifications"
    version: ClassVar[int] = 5
    tables: ClassVar[tuple[str, ...]] = ("notifications", "notification_reads")
    types: ClassVar[frozenset[str]] = frozenset({*KINDS, *_SETTLED, READ, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE notifications(
            number INTEGER PRIMARY KEY, notification_id TEXT UNIQUE, type TEXT, resource_kind TEXT, resource_id TEXT,
            summary TEXT, created_ns INTEGER, settled TEXT, position INTEGER)""",
        "CREATE INDEX notifications_by_resource ON notifications(resource_kind, resource_id)",
        """CREATE TABLE notification_reads(
            owner_id TEXT, number INTEGER, read_ns INTEGER, PRIMARY KEY(owner_id, number)) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type in KINDS:
            if is_notification(event):
                self._add(tables, event)
        elif event.type in _SETTLED:
            tables.execute(
                "UPDATE notifications SET settled = ? WHERE resource_kind = 'action' AND resource_id = ?",
                (_settlement(event), str(event.payload["action_id"])),
            )
        elif event.type == READ:
            self._read(tables, event)
        else:
            self._drop(tables, event.payload)

    @staticmethod
    def _add(tables: Tables, event: Event) -> None:
        kind, about, field = KINDS[event.type]
        number = tables.execute("SELECT coalesce(max(number), 0) + 1 FROM notifications").fetchone()[0]
        resource = event.payload.get(field) or event.correlation.to_wire().get(field)
        tables.execute(
            "INSERT OR IGNORE INTO notifications VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)",
            (
                number,
                notification_id(event),
                kind,
                about,
                None if resource is None else str(resource),
                _text(event.payload.get("summary"))[:_SUMMARY],
                event.at_ns,
                event.position,
            ),
        )
        tables.execute("DELETE FROM notifications WHERE number <= ?", (number - MAX_KEPT,))
        tables.execute("DELETE FROM notification_reads WHERE number <= ?", (number - MAX_KEPT,))

    @staticmethod
    def _read(tables: Tables, event: Event) -> None:
        """Record when notifications were read; the first time counts."""
        owner, ids, through = event.payload["owner_id"], event.payload.get("ids"), event.payload.get("through")
        if isinstance(through, int):
            tables.execute(
                """INSERT OR IGNORE INTO notification_reads
                   SELECT ?, number, ? FROM notifications WHERE position <= ?""",
                (str(owner), event.at_ns, through),
            )
        for notification_id in ids if isinstance(ids, list) else ():
            tables.execute(
                """INSERT OR IGNORE INTO notification_reads
                   SELECT ?, number, ? FROM notifications WHERE notification_id = ?""",
                (str(owner), event.at_ns, str(notification_id)),
            )

    @staticmethod
    def _drop(tables: Tables, payload: JsonObject) -> None:
        streams = payload["streams"]
        assert isinstance(streams, list)
        for stream, _ in streams:
            kind, slash, name = stream.partition("/")
            if slash:
                tables.execute("DELETE FROM notifications WHERE resource_kind = ? AND resource_id = ?", (kind, name))
        if streams:
            tables.execute("DELETE FROM notification_reads WHERE number NOT IN (SELECT number FROM notifications)")


def _settlement(event: Event) -> str:
    outcome = event.type.removeprefix("action.")
    if outcome != "rejected":
        return outcome
    return refusal_status(str(event.payload.get("by", "")), str(event.payload.get("reason", "")))


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
