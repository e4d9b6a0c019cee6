"""The errors with which a call learns that its action is pending, was refused, or no longer fits."""

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import ApprovalExpired, ApprovalPending, ApprovalRejected, ApprovalSettled, OutcomeUnknown
from codeplane.kernel.ports import Question
from codeplane.trust.approvals.action import Action, ActionStatus, preview_hash
from codeplane.trust.approvals.events import action_ids


def pending_error(
    action: Action, *, joined: bool = False, question: str | None = None, code: str | None = None
) -> ApprovalPending:
    """The error of a call whose action is pending.

    `joined`: an equal call waits already, and this one proposes nothing. `question` is for a client that may ask it.
    `code` says in a word why a person is asked.
    """
    also = "an equal call waits already, and one answer and one run are for both: " if joined else ""
    person = f"the person decides with: cpl approvals approve {action.action_id}"
    again = f'call again with the same arguments and idempotency_key "{action.key}"'
    return ApprovalPending(
        f"{also}{action.operation} waits for a person's approval ({action.action_id}): {action.summary}",
        hint=f"to wait for that answer, {again}; {person}" if joined else f"{person}; then {again}",
        details={
            "action_id": action.action_id,
            "idempotency_key": action.key,
            "expires_at": rfc3339(action.expires_ns),
            "reasons": action.reasons,
            **({} if question is None else {"question": question}),
            **({} if code is None else {"code": code}),
        },
    )


def settled_error(action: Action) -> ApprovalSettled:
    """The error of a second decision about an action."""
    by = f" by {action.decided_by}" if action.decided_by else ""
    return ApprovalSettled(
        f"{action.action_id} is {action.status.value}{by} already",
        hint=f"see how it was decided: cpl approvals show {action.action_id}",
        details=action_ids(action),
    )


def refuse_rejected(action: Action) -> None:
    """Raise ApprovalExpired or ApprovalRejected when the action was rejected, expired or could not be run."""
    if action.expired:
        raise ApprovalExpired(f"nobody approved {action.operation} in time", details=action_ids(action))
    if action.state == "NOT_RUN":
        raise ApprovalExpired(f"{action.operation} was not run: {action.reason}", details=action_ids(action))
    if action.status is ActionStatus.REJECTED:
        raise ApprovalRejected(
            f"{action.operation} was rejected by {action.decided_by}: {action.reason or 'no reason given'}",
            details=action_ids(action),
        )


def check_approved(action: Action, question: Question, now_ns: int) -> None:
    """Raise unless the action is approved for exactly this call, and may still run."""
    refuse_rejected(action)
    if action.is_outcome_unknown:
        raise OutcomeUnknown(f"{action.action_id} was started and interrupted", details=action_ids(action))
    if action.status is ActionStatus.EXECUTED or now_ns >= action.expires_ns:
        raise ApprovalExpired(
            f"the approval {action.action_id} was for one run, which is over", details=action_ids(action)
        )
    if question.decision.person_only and not action.by_person:
        raise ApprovalExpired(
            f"{action.action_id} was not approved by a person for this call, and untrusted content was read since",
            hint="a new idempotency_key asks a person",
            details=action_ids(action),
        )
    if action.preview_hash != preview_hash(question):
        raise ApprovalExpired(
            f"what {action.operation} would do has changed since {action.action_id} was approved",
            hint="look at what is there now; if it is still wanted, a new idempotency_key asks about that",
            details=action_ids(action),
        )
