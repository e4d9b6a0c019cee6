"""The audit as a table: changes, refusals and decisions, with payloads cut to a bounded size."""

from typing import ClassVar

from codeplane.kernel.call_record import ACTION_EXECUTED, CALL_FINISHED, CALL_REFUSED, CALL_REPLAYED, refusal_status
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.ledger.projection import RETENTION_APPLIED, Tables
from codeplane.trust.approvals.table import REJECTED

_DAY_NS = 86_400 * 10**9
# For a retention event that does not say how long the audit is kept.
_DEFAULT_KEEP_NS = 90 * _DAY_NS
MAX_ENTRIES = 200_000

_CALLS = frozenset({CALL_FINISHED, CALL_REPLAYED})
_DECISIONS = {
    "action": ("created", "approved", "rejected", "expired", "executed", "interrupted"),
    "answer": ("remembered", "forgotten"),
    "capability": ("requested", "granted", "denied", "revoked", "expired"),
    "device": ("paired", "rotated", "renewed", "revoked", "expired"),
    "pairing": ("created", "bound", "refused", "burnt", "expired"),
    "agent": ("token_issued", "session_issued", "token_revoked", "revoked", "keys_rotated", "keys_dropped"),
    "owner": ("rotated",),
    "policy": ("loaded", "rejected", "decided"),
    "idempotency": ("conflict",),
    "shell": ("started", "finished"),
    "content": ("ingested",),
    "storage": ("recovered",),
    "turn": ("failed",),
    "model": ("repair_attempted", "fallback"),
    "skill": ("trusted", "distrusted", "proposed"),
    "improvement": ("proposed",),
    "proposal": ("applied", "rejected"),
}
AUDITED: frozenset[str] = frozenset(
    {*_CALLS, CALL_REFUSED, *(f"{family}.{verb}" for family, verbs in _DECISIONS.items() for verb in verbs)}
)
COLUMNS = """position, entry_id, at_ns, event_type, stream, actor, operation, outcome, action_id, call_id, task_id,
             session_id, thread_id, job_id, payload"""
# Error codes in this range mean that a call was not allowed.
_REFUSALS = range(2000, 3000)
_CALL_FIELDS = (
    "duration_us", "executed", "error", "idempotency_key", "arguments_hash", "repo_before", "repo_after",
    "commit_before", "commit_after", "workspace", "changed_paths", "diff_stats", "failure_class", "limit_triggered",
    "budget",
)  # fmt: skip
MAX_BYTES = 4096
_TEXT = 300
_ITEMS = 20
_FIELDS = 40
_DEPTH = 4


class AuditTable:
    """One row for each event that a person may later want to account for."""

    name: ClassVar[str] = "audit"
    version: ClassVar[int] = 3
    tables: ClassVar[tuple[str, ...]] = ("audit",)
    types: ClassVar[frozenset[str]] = AUDITED | {RETENTION_APPLIED}
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE audit(
            position INTEGER PRIMARY KEY, entry_id TEXT, at_ns INTEGER, event_type TEXT, stream TEXT, actor TEXT,
            operation TEXT, outcome TEXT, action_id TEXT, call_id TEXT, task_id TEXT, session_id TEXT,
            thread_id TEXT, job_id TEXT, payload TEXT)""",
        "CREATE INDEX audit_by_actor ON audit(actor, position)",
        "CREATE INDEX audit_by_operation ON audit(operation, position)",
        "CREATE INDEX audit_by_type ON audit(event_type, position)",
        "CREATE INDEX audit_by_action ON audit(action_id, position) WHERE action_id IS NOT NULL",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            self._forget(tables, event)
            if not event.payload["streams"]:
                return
        elif event.type in _CALLS and not _is_audited(event.payload):
            return
        ids, payload = event.correlation, event.payload
        tables.execute(
            "INSERT OR IGNORE INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                event.position,
                event.event_id,
                event.at_ns,
                event.type,
                event.stream,
                event.actor,
                _text(payload.get("operation")),
                _outcome(event),
                _text(payload.get("action_id")),
                ids.call_id,
                ids.task_id,
                ids.session_id,
                ids.thread_id,
                ids.job_id,
                truncate_payload(_audited_payload(event)),
            ),
        )

    @staticmethod
    def _forget(tables: Tables, event: Event) -> None:
        before = event.payload.get("audit_before_ns")
        cutoff = before if isinstance(before, int) else event.at_ns - _DEFAULT_KEEP_NS
        # Only the oldest entries go, up to the first young enough one, so that a clock jump leaves no hole.
        tables.execute(
            """DELETE FROM audit WHERE position < coalesce(
               (SELECT min(position) FROM audit WHERE at_ns >= ?1), (SELECT max(position) + 1 FROM audit))""",
            (cutoff,),
        )
        tables.execute(
            """DELETE FROM audit WHERE position <= (
               SELECT position FROM audit ORDER BY position DESC LIMIT 1 OFFSET ?)""",
            (MAX_ENTRIES,),
        )


def _is_audited(payload: JsonObject) -> bool:
    """Whether a call belongs in the audit: it could change something, or it was refused."""
    error = payload.get("error")
    return bool(payload.get("mutates")) or (isinstance(error, dict) and error.get("code") in _REFUSALS)


def _outcome(event: Event) -> str:
    if event.type == CALL_REPLAYED:
        return "replayed"
    if event.type == REJECTED:
        return refusal_status(str(event.payload.get("by", "")), str(event.payload.get("reason", "")))
    if event.type == ACTION_EXECUTED and event.payload.get("outcome") not in (None, "ok"):
        # It was approved and ran, but failed.
        return str(event.payload["outcome"])
    status = event.payload.get("status")
    return str(status) if isinstance(status, str) else event.type.partition(".")[2]


def _audited_payload(event: Event) -> JsonObject:
    payload = event.payload
    if event.type in _CALLS:
        return {name: payload[name] for name in _CALL_FIELDS if name in payload}
    if event.type == RETENTION_APPLIED:
        streams = payload["streams"]
        assert isinstance(streams, list)
        return {"streams": len(streams), "names": streams[:20]}
    return payload


def _text(value: JsonValue) -> str | None:
    return None if value is None else value if isinstance(value, str) else dumps(value)


def truncate_payload(payload: JsonObject) -> str:
    """The payload as JSON of at most 4 KB: long texts and lists are cut visibly, then whole values are left out."""
    shortened = _cut(payload, _DEPTH)
    assert isinstance(shortened, dict)
    text = dumps(shortened)
    if _size(text) <= MAX_BYTES:
        return text
    fitting: JsonObject = {}
    size = 2
    dropped: list[JsonValue] = []
    # The smallest first, so that one large value does not push out many small ones.
    for name, value in sorted(shortened.items(), key=lambda item: (_size(dumps(item[1])), item[0])):
        size += _size(dumps({name: value}))
        if size <= MAX_BYTES - 600:
            fitting[name] = value
        else:
            dropped.append(name[:40])
    fitting["left_out"] = dropped[:10]
    return dumps(fitting)


def _cut(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= _TEXT else f"{value[:_TEXT]}… ({len(value)} characters)"
    if isinstance(value, dict):
        if depth == 0:
            return "…"
        fields = {str(name)[:_TEXT]: _cut(inner, depth - 1) for name, inner in list(value.items())[:_FIELDS]}
        return {**fields, "…": f"{len(value) - _FIELDS} more"} if len(value) > _FIELDS else fields
    if isinstance(value, (list, tuple)):
        if depth == 0:
            return "…"
        items: list[JsonValue] = [_cut(inner, depth - 1) for inner in value[:_ITEMS]]
        return [*items, f"… {len(value) - _ITEMS} more"] if len(value) > _ITEMS else items
    return value


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
