"""Entries of the audit, and the filters that select them."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from codeplane.kernel.actor import ActorKind
from codeplane.kernel.clock import SECOND_NS, rfc3339
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.operation import Request, Result
from codeplane.kernel.page import PageRequest, Pagination
from codeplane.kernel.plural import plural
from codeplane.ledger.rows import Cell

_TEXT_FIELDS = ("decision", "agent", "capabilities", "reason", "summary", "name", "by", "path", "version")


def _moment(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError("write a time as in 2025-06-30 or 2025-06-30T12:00:00Z") from error
    return text


Moment = Annotated[str, AfterValidator(_moment)]


def _as_given(name: str) -> tuple[str, ...]:
    return (name,)


def _actors(name: str) -> tuple[str, ...]:
    """The actors that a name can mean, of any kind; agents with tokens carry a prefix."""
    if ":" in name:
        return (name,)
    return (name, *(f"{kind}:{name}" for kind in ActorKind), f"{ActorKind.AGENT}:agent_{name}")


def _operations(name: str) -> tuple[str, ...]:
    """The operations that a name can mean: an operation's, or its tool's, as in git_push."""
    return tuple(dict.fromkeys((name, name.replace("_", ".", 1))))


_SPELLINGS: Mapping[str, Callable[[str], tuple[str, ...]]] = {"actor": _actors, "operation": _operations}


class AuditFilter(Request):
    """Which entries are meant; a name that ends in * is a beginning."""

    actor: str | None = Field(None, max_length=200, description="as in agent:claude-code, claude-code, or agent:*")
    operation: str | None = Field(None, max_length=100, description="as in git.push, git_push, or git.*")
    event_type: str | None = Field(None, max_length=100, description="as in capability.granted, or action.*")
    outcome: str | None = Field(None, max_length=100, description="as in ok, POLICY_DENIED, approved")
    action_id: str | None = Field(
        None, min_length=4, max_length=200, description="its id, or a beginning or end that only it has"
    )
    since: Moment | None = Field(None, max_length=40, description="not before this time; UTC unless it says otherwise")
    until: Moment | None = Field(None, max_length=40, description="before this time")
    text: str | None = Field(None, min_length=1, max_length=200, description="these letters anywhere in an entry")

    def where(self) -> tuple[str, list[Cell]]:
        """The filter as an SQL condition and its values."""
        conditions: list[str] = []
        values: list[Cell] = []
        for column in ("actor", "operation", "event_type", "outcome", "action_id"):
            wanted = getattr(self, column)
            if wanted is None:
                continue
            if wanted.endswith("*"):
                conditions.append(f"{column} >= ? AND {column} < ? || char(1114111)")
                values += [wanted[:-1], wanted[:-1]]
            else:
                spellings = _SPELLINGS.get(column, _as_given)(wanted)
                conditions.append(f"{column} IN ({', '.join('?' * len(spellings))})")
                values += spellings
        if self.since is not None:
            conditions.append("at_ns >= ?")
            values.append(_ns(self.since))
        if self.until is not None:
            conditions.append("at_ns < ?")
            values.append(_ns(self.until))
        if self.text is not None:
            columns = ("payload", "actor", "operation", "outcome", "event_type")
            matches = [f"{column} LIKE ? ESCAPE '!'" for column in columns]
            conditions.append(f"({' OR '.join(matches)})")
            plain = self.text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
            values += [f"%{plain}%"] * len(columns)
        return " AND ".join(conditions) or "1", values


class AuditRequest(AuditFilter, PageRequest):
    """A page of the audit."""

    limit: int = Field(50, ge=1, le=1000)


class AuditEntry(Result):
    """One change, decision or refusal."""

    entry_id: str
    event_type: str
    occurred_at: str
    actor: str
    operation: str | None = None
    outcome: str
    action_id: str | None = None
    call_id: str | None = None
    task_id: str | None = None
    session_id: str | None = None
    thread_id: str | None = None
    job_id: str | None = None
    position: int
    payload: JsonObject

    def text(self) -> str:
        details = [_value_text(self.payload[name]) for name in _TEXT_FIELDS if self.payload.get(name)]
        error = self.payload.get("error")
        details += [str(error["message"])] if isinstance(error, dict) and "message" in error else []
        parts = (self.occurred_at[:19], self.actor, self.operation or self.event_type, self.outcome, self.action_id)
        return " ".join(filter(None, [*parts, " · ".join(details)[:200]]))


def _value_text(value: JsonValue) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


class AuditPage(Result):
    """Entries, newest first; where none had the outcome that was asked for, the outcomes there are."""

    results: tuple[AuditEntry, ...]
    pagination: Pagination
    outcomes: tuple[str, ...] = ()

    def text(self) -> str:
        if not self.results:
            return "no entries" + (f"; outcomes there are: {', '.join(self.outcomes)}" if self.outcomes else "")
        return "\n".join(entry.text() for entry in self.results) + self.pagination.line()


class AuditExport(Result):
    """Where the entries were written."""

    file: str
    entries: int
    bytes: int
    through_position: int

    def text(self) -> str:
        return f"{plural(self.entries, 'entry')} to position {self.through_position} in {self.file}"


def entry_from_row(row: tuple[Cell, ...]) -> AuditEntry:
    """The entry in a row of the table."""
    position, entry_id, at_ns, event_type, _, actor, operation, outcome, *ids, payload = row
    action_id, call_id, task_id, session_id, thread_id, job_id = (None if i is None else str(i) for i in ids)
    return AuditEntry(
        entry_id=str(entry_id),
        event_type=str(event_type),
        occurred_at=rfc3339(int(str(at_ns))),
        actor=str(actor),
        operation=None if operation is None else str(operation),
        outcome=str(outcome),
        action_id=action_id,
        call_id=call_id,
        task_id=task_id,
        session_id=session_id,
        thread_id=thread_id,
        job_id=job_id,
        position=int(str(position)),
        payload=json.loads(str(payload)),
    )


def _ns(text: str) -> int:
    at = datetime.fromisoformat(text)
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return int(at.timestamp()) * SECOND_NS + at.microsecond * 1000
