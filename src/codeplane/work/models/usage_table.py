"""The table of what models were used for: by turn, thread and day."""

from typing import ClassVar

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.event import Event
from codeplane.kernel.json import JsonObject
from codeplane.ledger.projection import RETENTION_APPLIED, Tables

STREAM = "models"
CALLED = "model.called"
FELL_BACK = "model.fell_back"
TURN, THREAD, DAY = "turn", "thread", "day"


def day_of(at_ns: int) -> str:
    """The day in UTC."""
    return rfc3339(at_ns)[:10]


class ModelUsageTable:
    """Calls, tokens and dollars of each model in each turn, thread and day."""

    name: ClassVar[str] = "model_usage"
    version: ClassVar[int] = 1
    tables: ClassVar[tuple[str, ...]] = ("model_usage",)
    types: ClassVar[frozenset[str]] = frozenset({CALLED, RETENTION_APPLIED})
    schema: ClassVar[tuple[str, ...]] = (
        """CREATE TABLE model_usage(
            scope TEXT, name TEXT, model TEXT, calls INTEGER, failures INTEGER, input_tokens INTEGER,
            output_tokens INTEGER, cached_tokens INTEGER, reasoning_tokens INTEGER, estimated_calls INTEGER,
            unpriced_calls INTEGER, cost_micro_usd INTEGER, last_ns INTEGER,
            PRIMARY KEY (scope, name, model)) WITHOUT ROWID""",
    )

    def apply(self, tables: Tables, event: Event) -> None:
        if event.type == RETENTION_APPLIED:
            tables.execute("DELETE FROM model_usage WHERE last_ns < ?", (number_of(event.payload, "audit_before_ns"),))
            return
        for scope, name in scopes_of(event):
            _add(tables, scope, name, event)


def scopes_of(event: Event) -> list[tuple[str, str]]:
    """What the call of a model counts towards: its turn, its thread and its day."""
    ids = event.correlation
    named = ((TURN, ids.turn_id), (THREAD, ids.thread_id), (DAY, day_of(event.at_ns)))
    return [(scope, name) for scope, name in named if name is not None]


def _add(tables: Tables, scope: str, name: str, event: Event) -> None:
    payload = event.payload
    tables.execute(
        """INSERT INTO model_usage VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT(scope, name, model) DO UPDATE SET calls = calls + 1, failures = failures + excluded.failures,
           input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
           cached_tokens = cached_tokens + excluded.cached_tokens,
           reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens,
           estimated_calls = estimated_calls + excluded.estimated_calls,
           unpriced_calls = unpriced_calls + excluded.unpriced_calls,
           cost_micro_usd = cost_micro_usd + excluded.cost_micro_usd, last_ns = excluded.last_ns""",
        (
            *(scope, name, str(payload["model"]), int(payload["status"] != "ok")),
            *(number_of(payload, "input_tokens"), number_of(payload, "output_tokens")),
            *(number_of(payload, "cached_tokens"), number_of(payload, "reasoning_tokens")),
            *(int(bool(payload["estimated"])), int(payload.get("cost_micro_usd") is None)),
            *(number_of(payload, "cost_micro_usd"), event.at_ns),
        ),
    )


def number_of(payload: JsonObject, name: str) -> int:
    """A number of an event, 0 when it is unknown."""
    value = payload.get(name)
    return value if isinstance(value, int) else 0
