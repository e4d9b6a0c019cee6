"""Retention: decides which events are old, by class of stream and never past a snapshot; its event deletes them."""

import sqlite3
from dataclasses import dataclass
from typing import TypeAlias

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.event import Draft
from codeplane.kernel.event_log import EventQuery
from codeplane.kernel.json import JsonObject
from codeplane.ledger import snapshots
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import RETENTION_APPLIED
from codeplane.ledger.stream_deletion import capture
from codeplane.ledger.transaction import WriteTransaction

_DAY_NS = 86_400 * SECOND_NS
_YOUNG_NS = 3600 * SECOND_NS
_BATCH_STREAMS = 500

# By stream: the first sequence that stays, and the one that was first before.
Parts: TypeAlias = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClass:
    """Streams with a common lifetime; `whole` ones are dropped as a whole, others lose their oldest events."""

    prefix: str
    setting: str
    whole: bool


CLASSES = (
    StreamClass(prefix="task/", setting="tasks_days", whole=True),
    StreamClass(prefix="session/", setting="tasks_days", whole=True),
    StreamClass(prefix="thread/", setting="messages_days", whole=False),
    StreamClass(prefix="key/", setting="idempotency_days", whole=True),
    StreamClass(prefix="work/", setting="audit_days", whole=True),
    StreamClass(prefix="explore/", setting="audit_days", whole=True),
    # Definitions, in `schedule/`, stay: a schedule may rest for years.
    StreamClass(prefix="wakeup/", setting="audit_days", whole=False),
    StreamClass(prefix="job/", setting="audit_days", whole=True),
    StreamClass(prefix="deferred/", setting="tasks_days", whole=True),
    StreamClass(prefix="artifact/", setting="artifacts_days", whole=True),
    StreamClass(prefix="execution/", setting="artifacts_days", whole=True),
    StreamClass(prefix="action/", setting="audit_days", whole=True),
    StreamClass(prefix="agent/", setting="audit_days", whole=True),
    StreamClass(prefix="capability/", setting="audit_days", whole=True),
    StreamClass(prefix="device/", setting="audit_days", whole=True),
    StreamClass(prefix="index", setting="tasks_days", whole=False),
    StreamClass(prefix="answers", setting="audit_days", whole=False),
    StreamClass(prefix="audit", setting="audit_days", whole=False),
    StreamClass(prefix="models", setting="audit_days", whole=False),
    StreamClass(prefix="skills", setting="audit_days", whole=False),
    StreamClass(prefix="proposal/", setting="audit_days", whole=True),
    StreamClass(prefix="notification", setting="audit_days", whole=False),
    StreamClass(prefix="policy", setting="audit_days", whole=False),
    StreamClass(prefix="system", setting="audit_days", whole=False),
)

_LAST = "(SELECT position FROM events e WHERE e.stream = s.stream AND e.sequence = s.head)"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPlan:
    """What one event drops: beginnings of streams, and empty streams."""

    parts: Parts
    forgotten: tuple[str, ...]
    idempotency_before_ns: int
    audit_before_ns: int

    @property
    def events(self) -> int:
        """How many events go."""
        return sum(first - before for first, before in self.parts.values())

    @property
    def payload(self) -> JsonObject:
        """The plan as its event has it."""
        forgotten: JsonObject = {"forgotten": list(self.forgotten)} if self.forgotten else {}
        return {
            "streams": [[stream, first] for stream, (first, _) in self.parts.items()],
            "idempotency_before_ns": self.idempotency_before_ns,
            "audit_before_ns": self.audit_before_ns,
            **forgotten,
        }


class Retention:
    """Takes snapshots and drops events older than the settings allow."""

    def __init__(self, *, log: SqliteLog, config: RetentionConfig, clock: Clock) -> None:
        self._log = log
        self._config = config
        self._clock = clock

    async def snapshot(self) -> int:
        """Store a snapshot of every projection; returns its position."""
        captured = await self._log.readers.run(self._capture)
        at_ns = self._clock.now_ns()

        def store(writing: WriteTransaction) -> None:
            for name, version, position, data in captured:
                snapshots.store(
                    writing.connection, name=name, version=version, position=position, at_ns=at_ns, data=data
                )

        await self._log.command(store)
        return min((position for _, _, position, _ in captured), default=self._log.position)

    async def ran_within(self, seconds: float) -> bool:
        """Whether some node applied it so short a time ago."""
        events = await self._log.query(EventQuery(types=(RETENTION_APPLIED,), newest=True, limit=1))
        return bool(events) and abs(self._clock.now_ns() - events[0].at_ns) < seconds * SECOND_NS

    async def apply(self) -> JsonObject:
        """Drop what has outlived its class; returns the counts."""
        safe = await self.snapshot()
        now = self._clock.now_ns()
        streams = events = 0
        while True:
            # A batch at a time, so that appends do not wait for all of it.
            plan = await self.plan(safe, now)
            await self._log.append([Draft(stream="system", type=RETENTION_APPLIED, payload=plan.payload)])
            streams, events = streams + len(plan.parts), events + plan.events
            if len(plan.parts) < _BATCH_STREAMS and len(plan.forgotten) < _BATCH_STREAMS:
                return {"streams": streams, "events": events}

    async def plan(self, safe: int, now: int) -> RetentionPlan:
        """What a batch drops at that time, of what a snapshot at position `safe` holds."""
        await self._log.flush()
        return await self._log.readers.run(lambda connection: self._plan(connection, safe, now))

    def _capture(self, connection: sqlite3.Connection) -> list[tuple[str, int, int, bytes]]:
        return [
            (projection.name, projection.version, *capture(connection, projection))
            for projection in self._log.projector.projections
        ]

    def _plan(self, connection: sqlite3.Connection, safe: int, now: int) -> RetentionPlan:
        found: Parts = {}
        for kind in CLASSES:
            cutoff = now - self._age_ns(kind.setting)
            finder = _whole_streams if kind.whole else _old_parts
            found |= finder(connection, kind.prefix, cutoff, safe)
        found |= _surplus(connection, "task/", self._config.tasks_max, now - _YOUNG_NS, safe)
        # What goes now is empty only afterwards, and its numbers are needed for some time.
        return RetentionPlan(
            parts=dict(list(found.items())[:_BATCH_STREAMS]),
            forgotten=_long_empty(connection, now - max(self._age_ns(kind.setting) for kind in CLASSES)),
            idempotency_before_ns=now - self._age_ns("idempotency_days"),
            audit_before_ns=now - self._age_ns("audit_days"),
        )

    def _age_ns(self, setting: str) -> int:
        return int(getattr(self._config, setting) * _DAY_NS)


def _long_empty(connection: sqlite3.Connection, cutoff: int) -> tuple[str, ...]:
    """Streams that were emptied long ago; until then their sequence is kept."""
    streams: list[str] = []
    for kind in CLASSES:
        if kind.prefix.endswith("/"):
            rows = connection.execute(
                """SELECT stream FROM streams WHERE stream >= ?1 AND stream < ?1 || char(1114111)
                   AND first > head AND last_at_ns < ?2 LIMIT ?3""",
                (kind.prefix, cutoff, _BATCH_STREAMS),
            )
            streams += (str(stream) for (stream,) in rows)
    return tuple(streams[:_BATCH_STREAMS])


def _whole_streams(connection: sqlite3.Connection, prefix: str, cutoff: int, safe: int) -> Parts:
    rows = connection.execute(
        f"""SELECT stream, head, first FROM streams s
            WHERE stream >= ?1 AND stream < ?1 || char(1114111) AND last_at_ns < ?2 AND first <= head
            AND {_LAST} <= ?3 LIMIT ?4""",
        (prefix, cutoff, safe, _BATCH_STREAMS),
    )
    return {stream: (head + 1, first) for stream, head, first in rows}


def _surplus(connection: sqlite3.Connection, prefix: str, most: int, young: int, safe: int) -> Parts:
    """All but the newest streams, by position, so that a clock jump makes nothing old."""
    rows = connection.execute(
        f"""SELECT stream, head, first FROM (
                SELECT stream, head, first, last_at_ns, {_LAST} AS last FROM streams s
                WHERE stream >= ?1 AND stream < ?1 || char(1114111) AND first <= head
                ORDER BY last DESC LIMIT -1 OFFSET ?2)
            WHERE last_at_ns < ?3 AND last <= ?4 LIMIT ?5""",
        (prefix, most, young, safe, _BATCH_STREAMS),
    )
    return {stream: (head + 1, first) for stream, head, first in rows}


def _old_parts(connection: sqlite3.Connection, prefix: str, cutoff: int, safe: int) -> Parts:
    """The start of each stream up to the first event young enough, so that its sequence has no holes."""
    parts: Parts = {}
    old = connection.execute(
        """SELECT stream, head, first FROM streams s WHERE stream >= ?1 AND stream < ?1 || char(1114111)
           AND (SELECT at_ns FROM events e WHERE e.stream = s.stream AND e.sequence = s.first) < ?2 LIMIT ?3""",
        (prefix, cutoff, _BATCH_STREAMS),
    )
    for stream, head, first in old.fetchall():
        (keep,) = connection.execute(
            "SELECT min(sequence) FROM events WHERE stream = ? AND (at_ns >= ? OR position > ?)",
            (stream, cutoff, safe),
        ).fetchone()
        keep = head + 1 if keep is None else keep
        if keep > first:
            parts[stream] = (keep, first)
    return parts
