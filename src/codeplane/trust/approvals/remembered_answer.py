"""Remembered answers: approvals that also cover later calls of the same kind, until they expire or are forgotten."""

from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.clock import Clock
from codeplane.kernel.event import Event
from codeplane.kernel.ports import ProjectionStore
from codeplane.ledger.projection import RETENTION_APPLIED, Tables

REMEMBERED, FORGOTTEN = "answer.remembered", "answer.forgotten"
STREAM = "answers"
TASK_CLOSED = "task.closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedAnswer:
    """An approval that covers later calls of the same kind by the same actor."""

    answer_id: str
    actor: str
    operation: str
    kind: str
    task_id: str | None
    summary: str
    by: str
    created_ns: int
    expires_ns: int
    covers: str


class RememberedAnswerTable:
    """The table of remembered answers."""

    name: ClassVar[str] = "remembered"
    version: ClassVar[int] = 2
    tables: ClassVar[tuple[str, ...]] = ("remembered",)
    types: ClassVar[frozenset[str]] = frozenset({REMEMBERED, FORGOTTEN, TASK_CLOSED, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE remembered(
            answer_id TEXT PRIMARY KEY, actor TEXT, operation TEXT, kind TEXT, task_id TEXT, summary TEXT,
            decided_by TEXT, created_ns INTEGER, expires_ns INTEGER, covers TEXT) WITHOUT ROWID""",
        "CREATE INDEX remembered_kind ON remembered(kind, actor)",
        "CREATE INDEX remembered_task ON remembered(task_id) WHERE task_id IS NOT NULL",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == REMEMBERED:
            task = payload.get("task_id")
            expires = payload["expires_ns"]
            assert isinstance(expires, int)
            tables.execute(
                "INSERT OR REPLACE INTO remembered VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(str(payload[name]) for name in ("answer_id", "actor", "operation", "kind")),
                    None if task is None else str(task),
                    str(payload["summary"]),
                    str(payload["by"]),
                    event.at_ns,
                    expires,
                    str(payload.get("covers") or payload["summary"]),
                ),
            )
        elif event.type == FORGOTTEN:
            tables.execute("DELETE FROM remembered WHERE answer_id = ?", (str(payload["answer_id"]),))
        elif event.type == TASK_CLOSED:
            tables.execute("DELETE FROM remembered WHERE task_id = ?", (event.correlation.task_id,))
        else:
            before = payload["idempotency_before_ns"]
            assert isinstance(before, int)
            tables.execute("DELETE FROM remembered WHERE expires_ns < ?", (before,))


class RememberedAnswers:
    """Looks remembered answers up in the table."""

    def __init__(self, *, log: ProjectionStore, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    async def find_answer(self, *, kind: str, actor: str, task_id: str | None) -> RememberedAnswer | None:
        """The newest answer that covers a kind of call by an actor, for the task or for all."""
        rows = await self._log.select(
            f"""SELECT {_COLUMNS} FROM remembered WHERE kind = ? AND actor = ?
                AND (task_id IS NULL OR task_id = ?) AND expires_ns > ? ORDER BY created_ns DESC LIMIT 1""",
            (kind, actor, task_id, self._clock.now_ns()),
        )
        return _answer_from_row(rows[0]) if rows else None

    async def all(self, limit: int) -> list[RememberedAnswer]:
        """The valid answers, newest first."""
        rows = await self._log.select(
            f"SELECT {_COLUMNS} FROM remembered WHERE expires_ns > ? ORDER BY created_ns DESC, answer_id LIMIT ?",
            (self._clock.now_ns(), limit),
        )
        return [_answer_from_row(row) for row in rows]


_COLUMNS = "answer_id, actor, operation, kind, task_id, summary, decided_by, created_ns, expires_ns, covers"


def _answer_from_row(row: tuple[str | int | float | bytes | None, ...]) -> RememberedAnswer:
    answer_id, actor, operation, kind, task_id, summary, by, created_ns, expires_ns, covers = row
    return RememberedAnswer(
        answer_id=str(answer_id),
        actor=str(actor),
        operation=str(operation),
        kind=str(kind),
        task_id=None if task_id is None else str(task_id),
        summary=str(summary),
        by=str(by),
        created_ns=int(str(created_ns)),
        expires_ns=int(str(expires_ns)),
        covers=str(covers),
    )
