"""The table of actions: proposals, decisions and outcomes."""

from typing import ClassVar

from codeplane.kernel.call_record import CALL_FINISHED, CALL_STARTED, CUT_OFF
from codeplane.kernel.errors import OutcomeUnknown
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables

CREATED, APPROVED, REJECTED, EXPIRING = "action.created", "action.approved", "action.rejected", "action.expiring"


class ActionTable:
    """One row for each action, updated by decisions and by the calls that execute it."""

    name: ClassVar[str] = "actions"
    version: ClassVar[int] = 4
    tables: ClassVar[tuple[str, ...]] = ("actions",)
    types: ClassVar[frozenset[str]] = frozenset(
        {CREATED, APPROVED, REJECTED, EXPIRING, CALL_STARTED, CALL_FINISHED, RETENTION_APPLIED}
    )
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE actions(
            action_id TEXT PRIMARY KEY, operation TEXT, actor_kind TEXT, actor_id TEXT, owner_id TEXT, surface TEXT,
            client TEXT, risk TEXT, key TEXT, arguments_hash TEXT, preview_hash TEXT, kind TEXT, summary TEXT,
            body TEXT, reasons TEXT, status TEXT, created_ns INTEGER, expires_ns INTEGER, session_id TEXT,
            task_id TEXT, call_id TEXT, decided_by TEXT, decided_ns INTEGER, reason TEXT, started INTEGER,
            outcome TEXT, position INTEGER, reminded INTEGER, covers TEXT, origin TEXT, identity TEXT) WITHOUT ROWID""",
        "CREATE UNIQUE INDEX actions_key ON actions(owner_id, operation, key)",
        "CREATE INDEX actions_status ON actions(status, position)",
        "CREATE INDEX actions_position ON actions(position)",
        "CREATE INDEX actions_expiry ON actions(expires_ns) WHERE status = 'PENDING'",
        "CREATE INDEX actions_waiting ON actions(status, started) WHERE status = 'APPROVED'",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        payload = event.payload
        if event.type == CREATED:
            _insert(tables, event)
        elif event.type in (APPROVED, REJECTED):
            tables.execute(
                """UPDATE actions SET status = ?, decided_by = ?, decided_ns = ?, reason = ?
                   WHERE action_id = ? AND (status = 'PENDING' OR (status = 'APPROVED' AND started = 0))""",
                (event.type.removeprefix("action.").upper(), str(payload["by"]), event.at_ns,
                 str(payload.get("reason") or ""), str(payload["action_id"])),
            )  # fmt: skip
        elif event.type == EXPIRING:
            tables.execute("UPDATE actions SET reminded = 1 WHERE action_id = ?", (str(payload["action_id"]),))
        elif event.type == RETENTION_APPLIED:
            before = payload.get("idempotency_before_ns")
            assert isinstance(before, int)
            tables.execute("DELETE FROM actions WHERE expires_ns < ? AND status != 'PENDING'", (before,))
        elif isinstance(action_id := payload.get("action_id"), str):
            _update_execution(tables, action_id, event)


def _insert(tables: Tables, event: Event) -> None:
    payload, ids = event.payload, event.correlation
    tables.execute(
        """INSERT OR IGNORE INTO actions VALUES (
            ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'PENDING', ?, ?, ?, ?, ?, NULL, NULL, NULL, 0, NULL, ?, 0,
            ?, ?, ?)""",
        (
            *(_cell(payload, name) for name in (
                "action_id", "operation", "actor_kind", "actor_id", "owner_id", "surface", "client", "risk",
                "idempotency_key", "arguments_hash", "preview_hash", "kind", "summary", "body", "reasons")),
            event.at_ns,
            _cell(payload, "expires_ns"),
            ids.session_id,
            ids.task_id,
            ids.call_id,
            event.position,
            _cell(payload, "covers"),
            dumps(payload["origin"]) if "origin" in payload else None,
            _cell(payload, "identity"),
        ),
    )  # fmt: skip


def _update_execution(tables: Tables, action_id: str, event: Event) -> None:
    if event.type == CALL_STARTED:
        tables.execute("UPDATE actions SET started = 1 WHERE action_id = ?", (action_id,))
    elif event.payload.get("executed"):
        status = str(event.payload["status"])
        tables.execute(
            "UPDATE actions SET status = ?, started = 1, outcome = ? WHERE action_id = ? AND outcome IS NULL",
            # Of an action that was cut off, only that it was approved and started is known.
            ("APPROVED" if status in CUT_OFF else "EXECUTED", OutcomeUnknown.name if status in CUT_OFF else status,
             action_id),
        )  # fmt: skip
    else:
        tables.execute("UPDATE actions SET started = 0 WHERE action_id = ? AND outcome IS NULL", (action_id,))


def _cell(payload: JsonObject, name: str) -> str | int | None:
    value = payload.get(name)
    assert value is None or isinstance(value, (str, int))
    return value
