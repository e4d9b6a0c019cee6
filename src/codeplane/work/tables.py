"""The tables of the work plane: sessions, tasks and operations, as 002 §12.5 has them."""

from typing import ClassVar

from codeplane.kernel.call_record import CALL_FINISHED, CALL_STARTED
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables


def _text(value: JsonValue) -> str | None:
    return None if value is None else value if isinstance(value, str) else dumps(value)


def _dropped_ids(payload: JsonObject, prefix: str) -> list[str]:
    streams = payload["streams"]
    assert isinstance(streams, list)
    return [stream.removeprefix(prefix) for stream, _ in streams if stream.startswith(prefix)]


class SessionTable:
    """Sessions: who connected, and with which task."""

    name: ClassVar[str] = "sessions"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("sessions",)
    types: ClassVar[frozenset[str]] = frozenset({"session.opened", "session.closed", RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE sessions(
            session_id TEXT PRIMARY KEY, task_id TEXT, opened_at INTEGER, closed_at INTEGER, surface TEXT,
            client TEXT, actor TEXT, reason TEXT)""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload, session_id = event.payload, event.correlation.session_id
        if event.type == "session.opened":
            tables.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, NULL, ?, ?, ?, NULL)",
                (
                    session_id,
                    _text(payload["task_id"]),
                    event.at_ns,
                    _text(payload["surface"]),
                    _text(payload["client"]),
                    _text(payload["actor"]),
                ),
            )
        elif event.type == "session.closed":
            tables.execute(
                "UPDATE sessions SET closed_at = ?, reason = ? WHERE session_id = ?",
                (event.at_ns, _text(payload["reason"]), session_id),
            )
        else:
            for dropped in _dropped_ids(payload, "session/"):
                tables.execute("DELETE FROM sessions WHERE session_id = ?", (dropped,))


class TaskTable:
    """Tasks with their limits and counters."""

    name: ClassVar[str] = "tasks"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("tasks",)
    types: ClassVar[frozenset[str]] = frozenset(
        {"task.opened", "task.closed", "task.configured", CALL_FINISHED, RETENTION_APPLIED}
    )
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE tasks(
            task_id TEXT PRIMARY KEY, session_id TEXT, description TEXT, opened_at INTEGER, closed_at INTEGER,
            state TEXT, reason TEXT, repo_head_sha TEXT, limits_json TEXT, calls INTEGER, failures INTEGER,
            mutation_count INTEGER, test_run_count INTEGER, last_mutation_fingerprint TEXT,
            last_failure_fingerprint TEXT, position INTEGER)""",
        "CREATE INDEX tasks_by_state ON tasks(state)",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload, task_id = event.payload, event.correlation.task_id
        if event.type == CALL_FINISHED:
            self._count(tables, payload, task_id)
        elif event.type == "task.opened":
            tables.execute(
                "INSERT INTO tasks VALUES (?, ?, ?, ?, NULL, 'OPEN', NULL, ?, ?, 0, 0, 0, 0, NULL, NULL, ?)",
                (
                    task_id,
                    event.correlation.session_id,
                    _text(payload["description"]),
                    event.at_ns,
                    _text(payload["repo_head"]),
                    dumps(payload["limits"]),
                    event.position,
                ),
            )
        elif event.type == "task.closed":
            tables.execute(
                "UPDATE tasks SET state = ?, reason = ?, closed_at = ? WHERE task_id = ?",
                (_text(payload["state"]), _text(payload["reason"]), event.at_ns, task_id),
            )
        elif event.type == "task.configured":
            tables.execute("UPDATE tasks SET limits_json = ? WHERE task_id = ?", (dumps(payload["limits"]), task_id))
            if payload["state"] == "OPEN":
                tables.execute(
                    "UPDATE tasks SET state = 'OPEN', reason = NULL, closed_at = NULL WHERE task_id = ?", (task_id,)
                )
        else:
            for dropped in _dropped_ids(payload, "task/"):
                tables.execute("DELETE FROM tasks WHERE task_id = ?", (dropped,))

    @staticmethod
    def _count(tables: Tables, payload: JsonObject, task_id: str | None) -> None:
        budget = payload.get("budget") if payload["executed"] else None
        tables.execute(
            """UPDATE tasks SET calls = calls + 1, failures = failures + ?,
               mutation_count = mutation_count + ?, test_run_count = test_run_count + ?,
               last_mutation_fingerprint = coalesce(?, last_mutation_fingerprint),
               last_failure_fingerprint = coalesce(?, last_failure_fingerprint) WHERE task_id = ?""",
            (
                payload["status"] != "ok",
                budget == "mutation",
                budget == "test_run",
                _text(payload.get("mutation_fingerprint")),
                _text(payload.get("failure_fingerprint")),
                task_id,
            ),
        )


_RESULTS = (
    "repo_after", "changed_paths", "diff_stats", "short_diff", "mutation_fingerprint", "failure_fingerprint",
    "failure_class", "failing_tests", "limit_triggered",
)  # fmt: skip
# Of a mutation there is a row already, from its start.
_FINISH = """INSERT INTO operations(op_id, call_id, task_id, session_id, actor, timestamp, op_type, repo_before_hash,
    duration_ms, status, success, repo_after_hash, changed_paths, diff_stats, short_diff, mutation_fingerprint,
    failure_fingerprint, failure_class, failing_tests, limit_triggered)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(call_id) DO UPDATE SET duration_ms = excluded.duration_ms, status = excluded.status,
    success = excluded.success, repo_after_hash = excluded.repo_after_hash, changed_paths = excluded.changed_paths,
    diff_stats = excluded.diff_stats, short_diff = excluded.short_diff,
    mutation_fingerprint = excluded.mutation_fingerprint, failure_fingerprint = excluded.failure_fingerprint,
    failure_class = excluded.failure_class, failing_tests = excluded.failing_tests,
    limit_triggered = excluded.limit_triggered"""


class OperationTable:
    """Calls: operation, changes and outcome, without content."""

    name: ClassVar[str] = "operations"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("operations",)
    types: ClassVar[frozenset[str]] = frozenset({CALL_STARTED, CALL_FINISHED, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE operations(
            op_id INTEGER PRIMARY KEY, call_id TEXT UNIQUE, task_id TEXT, session_id TEXT, actor TEXT,
            timestamp INTEGER, duration_ms REAL, op_type TEXT, status TEXT, success INTEGER,
            repo_before_hash TEXT, repo_after_hash TEXT, changed_paths TEXT, diff_stats TEXT, short_diff TEXT,
            mutation_fingerprint TEXT, failure_fingerprint TEXT, failure_class TEXT, failing_tests TEXT,
            limit_triggered TEXT)""",
        "CREATE INDEX operations_by_task ON operations(task_id, op_id)",
        "CREATE INDEX operations_running ON operations(op_id) WHERE status = 'running'",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            for dropped in _dropped_ids(event.payload, "task/"):
                tables.execute("DELETE FROM operations WHERE task_id = ?", (dropped,))
        elif event.type == CALL_STARTED:
            self._insert(tables, event)
        else:
            self._finish(tables, event)

    @staticmethod
    def _insert(tables: Tables, event: Event) -> None:
        ids = event.correlation
        tables.execute(
            """INSERT INTO operations(op_id, call_id, task_id, session_id, actor, timestamp, op_type, status,
               repo_before_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(call_id) DO NOTHING""",
            (
                event.position,
                ids.call_id,
                ids.task_id,
                ids.session_id,
                event.actor,
                event.at_ns,
                _text(event.payload["operation"]),
                "running",
                _text(event.payload.get("repo_before")),
            ),
        )

    @staticmethod
    def _finish(tables: Tables, event: Event) -> None:
        payload, ids = event.payload, event.correlation
        duration = payload["duration_us"]
        assert isinstance(duration, int)
        status = _text(payload["status"])
        tables.execute(
            _FINISH,
            (
                *(event.position, ids.call_id, ids.task_id, ids.session_id, event.actor, event.at_ns),
                *(_text(payload["operation"]), _text(payload.get("repo_before"))),
                *(duration / 1000, status, status == "ok"),
                *(_text(payload.get(name)) for name in _RESULTS),
            ),
        )
