"""Rows of the activity that are actions: calls that wait for, or got, a person's decision."""

from collections.abc import Collection, Sequence

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.failure import REFUSED, failure_in_words
from codeplane.kernel.ports import Ledger
from codeplane.observe.dashboard.call_row import CallFilter, CallRow

_ACTION_FAILURES = """SELECT a.action_id, o.failure_class FROM audit a JOIN operations o ON o.call_id = a.call_id
            WHERE a.action_id IN ({marks}) AND o.status = 'ok' AND o.failure_class IS NOT NULL"""
_ACTION = (
    "action_id, operation, actor_kind, actor_id, surface, client, risk, summary, status, created_ns, session_id, "
    "task_id, call_id, decided_by, reason, outcome, position, started"
)


class ActionRows:
    """Reads actions from the log's tables."""

    def __init__(self, log: Ledger) -> None:
        self._log = log

    async def with_failures(self, rows: Sequence[CallRow]) -> list[CallRow]:
        """The rows with the failures of executed actions, which the actions table does not hold."""
        ran = [row.key for row in rows if row.key == row.action_id and row.phase == "done" and row.status == "ok"]
        if not ran:
            return list(rows)
        failures_found = await self._log.select(_ACTION_FAILURES.format(marks=", ".join("?" * len(ran))), ran)
        failures = {str(action_id): failure_in_words(cell(failure)) for action_id, failure in failures_found}
        return [row.model_copy(update={"failure": failures[row.key]}) if row.key in failures else row for row in rows]

    async def load(self, wanted: Collection[str], outcome: str | None) -> dict[str, CallRow]:
        """Return the rows of some actions by their ids."""
        if not wanted:
            return {}
        marks = ", ".join("?" * len(wanted))
        term, values = _outcome_condition(outcome)
        rows = await self._log.select(
            f"SELECT {_ACTION} FROM actions WHERE action_id IN ({marks}){term}", (*wanted, *values)
        )
        return {str(row[0]): _row_from_action(row) for row in rows}

    async def find(self, request: CallFilter, low: int, until: int, limit: int) -> list[CallRow]:
        """Actions by the position they were proposed at, newest first."""
        term, values = _outcome_condition(request.outcome)
        if request.operation:
            last = request.operation.removesuffix("*") + ("\U0010ffff" if request.operation.endswith("*") else "")
            term, values = f"{term} AND operation BETWEEN ? AND ?", (*values, request.operation.removesuffix("*"), last)
        for word in request.words():
            like = f"%{word}%"
            term = f"{term} AND (operation LIKE ? OR summary LIKE ? OR reason LIKE ?)"
            values = (*values, like, like, like)
        rows = await self._log.select(
            f"SELECT {_ACTION} FROM actions WHERE position BETWEEN ? AND ?{term} ORDER BY position DESC LIMIT ?",
            (low, until, *values, limit),
        )
        return list(map(_row_from_action, rows))


def _outcome_condition(outcome: str | None) -> tuple[str, tuple[str, ...]]:
    """A filter by outcome as a condition on actions, since thousands may be waiting."""
    if not outcome:
        return "", ()
    statuses = {"refused": REFUSED, "waiting": ("PENDING",)}.get(outcome, (outcome,))
    return f" AND coalesce(outcome, status) IN ({', '.join('?' * len(statuses))})", statuses


def _row_from_action(row: Sequence[str | int | float | bytes | None]) -> CallRow:
    (action_id, name, actor_kind, actor_id, surface, client, risk, summary, status, created_ns, session_id,
     task_id, call_id, decided_by, reason, outcome, position, started) = row  # fmt: skip
    at_ns = int(str(created_ns))
    runs = bool(started) and status == "APPROVED" and not outcome
    phase = (
        "running"
        if runs
        else {"PENDING": "waiting", "APPROVED": "approved", "REJECTED": "rejected"}.get(str(status), "done")
    )
    return CallRow(
        key=str(action_id),
        position=int(str(position)),
        updated=int(str(position)),
        at=rfc3339(at_ns),
        at_ns=at_ns,
        operation=str(name),
        actor=f"{cell(actor_kind)}:{cell(actor_id)}",
        status="running" if runs else str(outcome) if outcome else str(status),
        phase=phase,
        said=str(summary),
        mutates=True,
        client=cell(client),
        surface=cell(surface),
        call_id=cell(call_id),
        task_id=cell(task_id),
        session_id=cell(session_id),
        action_id=str(action_id),
        risk=cell(risk),
        decided_by=cell(decided_by),
        reason=cell(reason) or None,
    )


def cell(value: str | int | float | bytes | None) -> str | None:
    """Return a cell of a table as text."""
    return None if value is None else str(value)
