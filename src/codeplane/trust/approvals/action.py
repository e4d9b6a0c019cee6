"""An action: a call that waits for, or got, a person's decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.call_record import EXPIRED_REASON, NO_PERSON, action_stream, refusal_status
from codeplane.kernel.errors import OutcomeUnknown
from codeplane.kernel.ids import digest
from codeplane.kernel.json import canonical
from codeplane.kernel.operation import Risk
from codeplane.kernel.ports import Question

# How answers are told of that no person gave to the action itself.
CLIENT = "client:"
REMEMBERED_AS = "remembered ans_"

Cell = str | int | float | bytes | None


class ActionStatus(StrEnum):
    """How far an action has come; what expired is rejected, with that reason."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    EXECUTED = "EXECUTED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One question with everything a person is shown, and what became of it."""

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

    @property
    def stream(self) -> str:
        """The stream that its facts are in."""
        return action_stream(self.action_id)

    @property
    def unknown(self) -> bool:
        """Whether it was begun and nobody saw how it ended; such an action is never run again by itself."""
        return self.outcome == OutcomeUnknown.name

    @property
    def by_person(self) -> bool:
        """Whether a person decided about this very action: not a remembered answer, not a client's word."""
        by, reason = self.decided_by or "", self.reason or ""
        return not by.startswith(CLIENT) and not reason.startswith(REMEMBERED_AS)

    @property
    def expired(self) -> bool:
        """Whether nobody answered in time."""
        return self.state == "EXPIRED"

    @property
    def state(self) -> str:
        """The status, told apart further: EXPIRED and NOT_RUN were rejected by nobody, FAILED was executed in vain, of
        UNKNOWN nobody saw the end."""
        if self.unknown:
            return "UNKNOWN"
        if self.status is ActionStatus.EXECUTED:
            return self.status.value if self.outcome == "ok" else "FAILED"
        if self.status is ActionStatus.REJECTED:
            return refusal_status(self.decided_by or "", self.reason or "").upper()
        return self.status.value


# How the rows of a state are found; the statuses are columns of their own.
OF_STATE = {
    "EXPIRED": ("status = 'REJECTED' AND decided_by = ? AND reason = ?", (NO_PERSON, EXPIRED_REASON)),
    "NOT_RUN": ("status = 'REJECTED' AND decided_by = ? AND reason != ?", (NO_PERSON, EXPIRED_REASON)),
}

COLUMNS = (
    "action_id, operation, actor_kind, actor_id, owner_id, surface, client, risk, key, arguments_hash, preview_hash, "
    "kind, summary, body, reasons, status, created_ns, expires_ns, session_id, task_id, call_id, decided_by, "
    "decided_ns, reason, started, outcome, position, covers"
)


def from_row(row: Sequence[Cell]) -> Action:
    """The action that a row of the table is."""
    (action_id, operation, actor_kind, actor_id, owner_id, surface, client, risk, key, arguments_hash, preview_hash,
     kind, summary, body, reasons, status, created_ns, expires_ns, session_id, task_id, call_id, decided_by,
     decided_ns, reason, started, outcome, position, covers) = row  # fmt: skip
    return Action(
        action_id=str(action_id),
        operation=str(operation),
        actor=Actor(kind=ActorKind(str(actor_kind)), actor_id=str(actor_id), owner_id=str(owner_id)),
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
    )


def _text(cell: Cell) -> str | None:
    return None if cell is None else str(cell)


def preview_hash(question: Question) -> str:
    """What an approval is bound to: everything the person was shown, and the arguments behind it."""
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
    """What a remembered answer covers: the operation with its effects, paths and remotes; of a shell, the command.

    Effects are told with what they are about, as in commits; where the next such call would be about others, its
    assessment says in words what stays the same. Of a shell it is all that was given but why.
    """
    assessed = question.assessment
    exact = [_given(question)] if assessed.risk is Risk.HIGH else []
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


def _given(question: Question) -> str:
    """The arguments as the operation reads them, without what is only said to whoever decides."""
    request = question.call.request
    if request is None:
        return question.arguments_hash
    return digest(canonical(request.model_dump(mode="json", exclude=set(request.prose))))


def covered(question: Question) -> str:
    """The same for people."""
    assessed, name = question.assessment, question.call.operation.name
    told = "; ".join(assessed.trusted_as or assessed.effects)
    if assessed.risk is Risk.HIGH:
        return f"{name}, this very call and no other: {told or question.preview.summary}".replace("\n", " ⏎ ")
    said = [
        told,
        f"to {', '.join(assessed.remotes)}" if assessed.remotes and not assessed.trusted_as else "",
        f"in {', '.join(assessed.paths)}" if assessed.paths else "",
    ]
    return f"{name}: {', '.join(filter(None, said))}" if any(said) else f"every {name}"
