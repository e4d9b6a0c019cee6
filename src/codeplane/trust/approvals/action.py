"""An action: a call that waits for, or got, a person's decision."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from codeplane.kernel.actor import Actor, ActorKind, Origin
from codeplane.kernel.call import identity_word
from codeplane.kernel.call_record import EXPIRED_REASON, NO_PERSON, action_stream, refusal_status
from codeplane.kernel.errors import OutcomeUnknown
from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Risk
from codeplane.kernel.ports import Question

# How decisions are marked that no person made about the action itself.
CLIENT = "client:"
REMEMBERED_AS = "remembered ans_"

Cell = str | int | float | bytes | None


class ActionStatus(StrEnum):
    """The status of an action; an expired one is REJECTED, with that reason."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    EXECUTED = "EXECUTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A proposed call with everything a person is shown, and its outcome."""

    action_id: str
    operation: str
    actor: Actor
    surface: str
    client: str | None
    risk: Risk
    key: str
    arguments_hash: str
    preview_hash: str
    kind: str
    covers: str | None
    summary: str
    body: str
    reasons: str
    status: ActionStatus
    created_ns: int
    expires_ns: int
    session_id: str | None
    task_id: str | None
    call_id: str | None
    decided_by: str | None
    decided_ns: int | None
    reason: str | None
    started: bool
    outcome: str | None
    position: int
    # The work that the call is a step of.
    origin: Origin | None
    # Whose account it acts with, in the words of the protocol.
    identity: str

    @property
    def stream(self) -> str:
        """The event stream of the action."""
        return action_stream(self.action_id)

    @property
    def is_outcome_unknown(self) -> bool:
        """Whether it was started but its end was not recorded; such an action is never rerun automatically."""
        return self.outcome == OutcomeUnknown.name

    @property
    def by_person(self) -> bool:
        """Whether a person decided this very action, not a remembered answer or a client."""
        by, reason = self.decided_by or "", self.reason or ""
        return not by.startswith(CLIENT) and not reason.startswith(REMEMBERED_AS)

    @property
    def expired(self) -> bool:
        """Whether it was not decided in time."""
        return self.state == "EXPIRED"

    @property
    def state(self) -> str:
        """The status in more detail.

        EXPIRED and NOT_RUN are REJECTED without a person, FAILED is EXECUTED with an error, UNKNOWN was interrupted.
        """
        if self.is_outcome_unknown:
            return "UNKNOWN"
        if self.status is ActionStatus.EXECUTED:
            return self.status.value if self.outcome == "ok" else "FAILED"
        if self.status is ActionStatus.REJECTED:
            return refusal_status(self.decided_by or "", self.reason or "").upper()
        return self.status.value


# SQL conditions of the states that are not statuses.
STATE_CONDITIONS = {
    "EXPIRED": ("status = 'REJECTED' AND decided_by = ? AND reason = ?", (NO_PERSON, EXPIRED_REASON)),
    "NOT_RUN": ("status = 'REJECTED' AND decided_by = ? AND reason != ?", (NO_PERSON, EXPIRED_REASON)),
}

COLUMNS = (
    "action_id, operation, actor_kind, actor_id, owner_id, surface, client, risk, key, arguments_hash, preview_hash, "
    "kind, summary, body, reasons, status, created_ns, expires_ns, session_id, task_id, call_id, decided_by, "
    "decided_ns, reason, started, outcome, position, covers, origin, identity"
)


def action_from_row(row: Sequence[Cell]) -> Action:
    """The action in a row of the table."""
    (action_id, operation, actor_kind, actor_id, owner_id, surface, client, risk, key, arguments_hash, preview_hash,
     kind, summary, body, reasons, status, created_ns, expires_ns, session_id, task_id, call_id, decided_by,
     decided_ns, reason, started, outcome, position, covers, origin, identity) = row  # fmt: skip
    actor = Actor(kind=ActorKind(str(actor_kind)), actor_id=str(actor_id), owner_id=str(owner_id))
    return Action(
        action_id=str(action_id),
        operation=str(operation),
        actor=actor,
        surface=str(surface),
        client=_text(client),
        risk=Risk[str(risk)],
        key=str(key),
        arguments_hash=str(arguments_hash),
        preview_hash=str(preview_hash),
        kind=str(kind),
        covers=_text(covers),
        summary=str(summary),
        body=str(body),
        reasons=str(reasons),
        status=ActionStatus(str(status)),
        created_ns=int(str(created_ns)),
        expires_ns=int(str(expires_ns)),
        session_id=_text(session_id),
        task_id=_text(task_id),
        call_id=_text(call_id),
        decided_by=_text(decided_by),
        decided_ns=None if decided_ns is None else int(str(decided_ns)),
        reason=_text(reason),
        started=bool(started),
        outcome=_text(outcome),
        position=int(str(position)),
        origin=None if origin is None else Origin.from_json(json.loads(str(origin))),
        # Events of earlier versions do not have it.
        identity=_text(identity) or identity_word(None, actor),
    )


def _text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def preview_hash(question: Question) -> str:
    """The hash that an approval is bound to: of everything a person is shown, and the arguments."""
    assessed, preview = question.assessment, question.preview
    return digest(
        canonical(
            {
                "operation": question.call.operation.name,
                "arguments": question.arguments_hash,
                "risk": assessed.risk.name,
                "effects": list(assessed.effects),
                "paths": list(assessed.paths),
                "remotes": list(assessed.remotes),
                "summary": preview.summary,
                "body": preview.body,
                **({"pins": dict(preview.pins)} if preview.pins else {}),
            }
        )
    )


def kind_of(question: Question) -> str:
    """The hash of what a remembered answer covers: operation, effects, paths and remotes; for a shell, the command.

    Where the effects name what differs between such calls, such as commits, `trusted_as` says what they share. For a
    shell command, all arguments but the justification count.
    """
    assessed = question.assessment
    exact = [_arguments_hash(question)] if assessed.risk is Risk.HIGH else []
    return digest(
        canonical(
            {
                "operation": question.call.operation.name,
                "risk": assessed.risk.name,
                "effects": list(assessed.trusted_as or assessed.effects),
                "remotes": list(assessed.remotes),
                "paths": list(assessed.paths),
                "exact": [*exact],
            }
        )
    )


def _arguments_hash(question: Question) -> str:
    """The hash of the arguments without prose for the person who decides."""
    request = question.call.request
    if request is None:
        return question.arguments_hash
    return digest(canonical(request.model_dump(mode="json", exclude=set(request.prose))))


def describe_coverage(question: Question) -> str:
    """Describe what a remembered answer covers."""
    assessed, name = question.assessment, question.call.operation.name
    effects = "; ".join(assessed.trusted_as or assessed.effects)
    if assessed.risk is Risk.HIGH:
        return f"{name}, this very call and no other: {effects or question.preview.summary}".replace("\n", " ⏎ ")
    parts = [
        effects,
        f"to {', '.join(assessed.remotes)}" if assessed.remotes and not assessed.trusted_as else "",
        f"in {', '.join(assessed.paths)}" if assessed.paths else "",
    ]
    return f"{name}: {', '.join(filter(None, parts))}" if any(parts) else f"every {name}"
