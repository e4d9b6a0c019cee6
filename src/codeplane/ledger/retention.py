"""What the log forgets, and when: by class of stream, never past a snapshot, and as a fact of its own."""

import sqlite3
from dataclasses import dataclass

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.config import RetentionConfig
from codeplane.kernel.event import Draft
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.ledger import snapshots
from codeplane.ledger.log import SqliteLog
from codeplane.ledger.projection import RETENTION_APPLIED
from codeplane.ledger.writer import Writing

_DAY_NS = 86_400 * SECOND_NS
_YOUNG_NS = 3600 * SECOND_NS
_STREAMS_PER_EVENT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClass:
    """Streams with a common lifetime; `whole` ones go as one, others lose their oldest part."""

    prefix: str
    setting: str
    whole: bool


CLASSES = (
    StreamClass(prefix="task/", setting="tasks_days", whole=True),
    StreamClass(prefix="session/", setting="tasks_days", whole=True),
    StreamClass(prefix="thread/", setting="messages_days", whole=True),
    StreamClass(prefix="artifact/", setting="artifacts_days", whole=True),
    StreamClass(prefix="audit", setting="audit_days", whole=False),
    StreamClass(prefix="system", setting="audit_days", whole=False),
)


class Retention:
    """Takes snapshots and drops what is older than the settings say."""

    def __init__(self, *, log: SqliteLog, config: RetentionConfig, clock: Clock) -> None:
        self._log = log
        self._config = config
        self._clock = clock

    async def snapshot(self) -> int:
        """Keep a copy of every projection as it is now; returns the position it stands for."""
        captured = await self._log.readers.run(self._capture)
        at_ns = self._clock.now_ns()

        def store(writing: Writing) -> None:
            for name, version, position, data in captured:
                snapshots.store(
                    writing.connection, name=name, version=version, position=position, at_ns=at_ns, data=data
                )

        await self._log.command(store)
        return min((position for _, _, position, _ in captured), default=self._log.position)

    async def apply(self) -> JsonObject:
        """Drop what has outlived its class; returns what was dropped."""
        safe = await self.snapshot()
        now = self._clock.now_ns()
        outcome = await self._log.command(lambda writing: self._drop(writing, safe, now))
        assert isinstance(outcome, dict)
        return outcome

    def _capture(self, connection: sqlite3.Connection) -> list[tuple[str, int, int, bytes]]:
        taken = []
        for projection in self._log.projector.projections:
            (position,) = connection.execute(
                "SELECT position FROM projections WHERE name = ?", (projection.name,)
            ).fetchone()
            data = snapshots.capture(connection, projection.tables)
            taken.append((projection.name, projection.version, position, data))
        return taken

    def _drop(self, writing: Writing, safe: int, now: int) -> JsonObject:
        connection = writing.connection
        dropped: dict[str, int] = {}
        for kind in CLASSES:
            cutoff = now - int(getattr(self._config, kind.setting) * _DAY_NS)
            finder = _whole_streams if kind.whole else _old_parts
            dropped |= finder(connection, kind.prefix, cutoff, safe)
        dropped |= _surplus(connection, "task/", self._config.tasks_max, now - _YOUNG_NS, safe)
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
        keys_before = now - int(self._config.idempotency_days * _DAY_NS)
        self._note(writing, dropped, keys_before)
        return {"streams": len(dropped), "events": events}

    def _note(self, writing: Writing, dropped: dict[str, int], keys_before: int) -> None:
        streams = list(dropped.items())
        for start in range(0, max(len(streams), 1), _STREAMS_PER_EVENT):
            part: list[JsonValue] = [list(item) for item in streams[start : start + _STREAMS_PER_EVENT]]
            payload: JsonObject = {"streams": part, "idempotency_before_ns": keys_before}
            draft = Draft(stream="system", type=RETENTION_APPLIED, payload=payload)
            writing.append([draft], [dumps(payload)])


def _whole_streams(connection: sqlite3.Connection, prefix: str, cutoff: int, safe: int) -> dict[str, int]:
    return {
        stream: head + 1
        for stream, head in connection.execute(
            """SELECT stream, head FROM streams
               WHERE stream >= ?1 AND stream < ?1 || char(1114111) AND last_at_ns < ?2 AND first <= head""",
            (prefix, cutoff),
        )
        if _covered(connection, stream, safe)
    }


def _surplus(connection: sqlite3.Connection, prefix: str, most: int, young: int, safe: int) -> dict[str, int]:
    rows = connection.execute(
        """SELECT stream, head, last_at_ns FROM streams
           WHERE stream >= ?1 AND stream < ?1 || char(1114111) AND first <= head
           ORDER BY last_at_ns DESC LIMIT -1 OFFSET ?2""",
        (prefix, most),
    )
    return {
        stream: head + 1
        for stream, head, last_at_ns in rows
        if last_at_ns < young and _covered(connection, stream, safe)
    }


def _covered(connection: sqlite3.Connection, stream: str, safe: int) -> bool:
    (last,) = connection.execute("SELECT max(position) FROM events WHERE stream = ?", (stream,)).fetchone()
    return last is not None and last <= safe


def _old_parts(connection: sqlite3.Connection, prefix: str, cutoff: int, safe: int) -> dict[str, int]:
    """Only a stream's beginning may go, or its sequence would have holes: up to the first event young enough."""
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
