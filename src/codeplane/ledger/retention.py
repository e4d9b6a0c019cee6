"""Retention: drops old events by class of stream, never past a snapshot, and records it as an event."""

import sqlite3
from dataclasses import dataclass

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, dumps
from codeplane.ledger import snapshots
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import RETENTION_APPLIED
from codeplane.ledger.writer import WriteTransaction

_DAY_NS = 86_400 * SECOND_NS
_YOUNG_NS = 3600 * SECOND_NS
_BATCH_STREAMS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClass:
    """Streams with a common lifetime; `whole` ones are dropped as a whole, others lose their oldest events."""

    prefix: str
    setting: str
    whole: bool


CLASSES = (
    StreamClass(prefix="task/", setting="tasks_days", whole=True),
    StreamClass(prefix="session/", setting="tasks_days", whole=True),
    StreamClass(prefix="thread/", setting="messages_days", whole=True),
    StreamClass(prefix="work/", setting="audit_days", whole=True),
    StreamClass(prefix="artifact/", setting="artifacts_days", whole=True),
    StreamClass(prefix="execution/", setting="artifacts_days", whole=True),
    StreamClass(prefix="action/", setting="audit_days", whole=True),
    StreamClass(prefix="agent/", setting="audit_days", whole=True),
    StreamClass(prefix="capability/", setting="audit_days", whole=True),
    StreamClass(prefix="device/", setting="audit_days", whole=True),
    StreamClass(prefix="index", setting="tasks_days", whole=False),
    StreamClass(prefix="answers", setting="audit_days", whole=False),
    StreamClass(prefix="audit", setting="audit_days", whole=False),
    StreamClass(prefix="notification", setting="audit_days", whole=False),
    StreamClass(prefix="policy", setting="audit_days", whole=False),
    StreamClass(prefix="system", setting="audit_days", whole=False),
)

_LAST = "(SELECT position FROM events e WHERE e.stream = s.stream AND e.sequence = s.head)"


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

    async def apply(self) -> JsonObject:
        """Drop what has outlived its class; returns the counts."""
        safe = await self.snapshot()
        now = self._clock.now_ns()
        await self._log.command(lambda writing: self._forget_empty(writing, now))
        streams = events = 0
        while True:
            # A batch at a time, so that appends do not wait for all of it.
            batch = await self._log.command(lambda writing: self._drop(writing, safe, now))
            assert isinstance(batch, tuple)
            streams, events = streams + batch[0], events + batch[1]
            if batch[0] < _BATCH_STREAMS:
                return {"streams": streams, "events": events}

    def _capture(self, connection: sqlite3.Connection) -> list[tuple[str, int, int, bytes]]:
        taken = []
        for projection in self._log.projector.projections:
            (position,) = connection.execute(
                "SELECT position FROM projections WHERE name = ?", (projection.name,)
            ).fetchone()
            data = snapshots.capture(connection, projection.tables)
            taken.append((projection.name, projection.version, position, data))
        return taken

    def _drop(self, writing: WriteTransaction, safe: int, now: int) -> tuple[int, int]:
        """Drop a batch of streams or parts of them, and record it; returns the counts of streams and events."""
        connection = writing.connection
        dropped: dict[str, int] = {}
        for kind in CLASSES:
            cutoff = now - self._age_ns(kind.setting)
            finder = _whole_streams if kind.whole else _old_parts
            dropped |= finder(connection, kind.prefix, cutoff, safe)
        dropped |= _surplus(connection, "task/", self._config.tasks_max, now - _YOUNG_NS, safe)
        dropped = dict(list(dropped.items())[:_BATCH_STREAMS])
        events = 0
        for stream, first in dropped.items():
            connection.execute(
                """UPDATE log_state SET dropped_position = max(dropped_position, coalesce(
                   (SELECT max(position) FROM events WHERE stream = ? AND sequence < ?), 0))""",
                (stream, first),
            )
            cursor = connection.execute("DELETE FROM events WHERE stream = ? AND sequence < ?", (stream, first))
            events += cursor.rowcount
            connection.execute("UPDATE streams SET first = ? WHERE stream = ?", (first, stream))
        payload: JsonObject = {
            "streams": [list(item) for item in dropped.items()],
            "idempotency_before_ns": now - self._age_ns("idempotency_days"),
            "audit_before_ns": now - self._age_ns("audit_days"),
        }
        writing.append([Draft(stream="system", type=RETENTION_APPLIED, payload=payload)], [dumps(payload)])
        return len(dropped), events

    def _age_ns(self, setting: str) -> int:
        return int(getattr(self._config, setting) * _DAY_NS)

    def _forget_empty(self, writing: WriteTransaction, now: int) -> None:
        """Delete streams that were emptied long ago; until then their sequence is kept."""
        cutoff = now - max(self._age_ns(kind.setting) for kind in CLASSES)
        for kind in CLASSES:
            if kind.whole:
                rows = writing.connection.execute(
                    """DELETE FROM streams WHERE stream >= ?1 AND stream < ?1 || char(1114111)
                       AND first > head AND last_at_ns < ?2 RETURNING stream""",
                    (kind.prefix, cutoff),
                ).fetchall()
                for (stream,) in rows:
                    writing.heads.pop(stream, None)


def _whole_streams(connection: sqlite3.Connection, prefix: str, cutoff: int, safe: int) -> dict[str, int]:
    rows = connection.execute(
        f"""SELECT stream, head FROM streams s
            WHERE stream >= ?1 AND stream < ?1 || char(1114111) AND last_at_ns < ?2 AND first <= head
            AND {_LAST} <= ?3 LIMIT ?4""",
        (prefix, cutoff, safe, _BATCH_STREAMS),
    )
    return {stream: head + 1 for stream, head in rows}


def _surplus(connection: sqlite3.Connection, prefix: str, most: int, young: int, safe: int) -> dict[str, int]:
    """All but the newest streams, by position, so that a clock jump makes nothing old."""
    rows = connection.execute(
        f"""SELECT stream, head FROM (
                SELECT stream, head, last_at_ns, {_LAST} AS last FROM streams s
                WHERE stream >= ?1 AND stream < ?1 || char(1114111) AND first <= head
                ORDER BY last DESC LIMIT -1 OFFSET ?2)
            WHERE last_at_ns < ?3 AND last <= ?4 LIMIT ?5""",
        (prefix, most, young, safe, _BATCH_STREAMS),
    )
    return {stream: head + 1 for stream, head in rows}


def _old_parts(connection: sqlite3.Connection, prefix: str, cutoff: int, safe: int) -> dict[str, int]:
    """The start of each stream up to the first event young enough, so that its sequence has no holes."""
    parts: dict[str, int] = {}
    for stream, head, first in connection.execute(
        "SELECT stream, head, first FROM streams WHERE stream >= ?1 AND stream < ?1 || char(1114111)", (prefix,)
    ).fetchall():
        (keep,) = connection.execute(
            "SELECT min(sequence) FROM events WHERE stream = ? AND (at_ns >= ? OR position > ?)",
            (stream, cutoff, safe),
        ).fetchone()
        keep = head + 1 if keep is None else keep
        if keep > first:
            parts[stream] = keep
    return parts
