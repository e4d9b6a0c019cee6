"""Rights of work that acts for somebody: what both it and whom it acts for may do."""

from collections.abc import Callable
from dataclasses import replace

from codeplane.kernel.actor import Actor, ActorKind, Caller, Origin
from codeplane.kernel.call import Call
from codeplane.kernel.errors import CapabilityDenied
from codeplane.kernel.operation import Assessment
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.capabilities.grant import Grant, TokenRights, stricter_mode
from codeplane.trust.capabilities.grants import Grants

# They have no rights but through somebody.
_DELEGATES = frozenset({ActorKind.JOB, ActorKind.ASSISTANT})
JOB_RULE = "jobs"
JOB_REASON = "what runs by itself only proposes what reaches other machines"


class Delegation:
    """Checks a call also against the rights of whom it is made for."""

    def __init__(
        self,
        *,
        grants: Grants,
        token_rights: Callable[[Caller], TokenRights | None],
        is_live: Callable[[Actor], bool],
    ) -> None:
        self._grants = grants
        self._token_rights = token_rights
        self._is_live = is_live

    def require(self, call: Call, assessment: Assessment, own: Grant) -> Grant:
        """The call's own grant, as strict as the delegator's; CapabilityDenied when the delegator's do not cover it."""
        delegator = self._delegator(call)
        if delegator is None:
            return own
        theirs = self._grants.admit(delegator, self._rights(delegator), call.operation, assessment)
        mode = stricter_mode(own.context.approval_mode, theirs.context.approval_mode)
        if mode == own.context.approval_mode:
            return own
        return replace(own, context=replace(own.context, approval_mode=mode))

    def check_path(self, call: Call, path: str) -> None:
        """Raise PathDenied unless the delegator may write the path, too."""
        if (delegator := self._delegator(call)) is not None:
            self._grants.check_path(delegator, self._rights(delegator), path, call.operation)

    def _delegator(self, call: Call) -> Actor | None:
        origin = call.caller.origin
        delegator = origin.on_behalf_of if origin is not None else None
        if delegator is None and call.actor.kind in _DELEGATES:
            raise CapabilityDenied(
                f"{call.actor} acts for nobody, so it has no rights", details={"missing": "on_behalf_of"}
            )
        if delegator is not None and not self._is_live(delegator):
            raise CapabilityDenied(
                f"{call.actor} acts for {delegator}, who is no longer admitted",
                hint="start the work again as somebody who is",
                details={"missing": "on_behalf_of", "on_behalf_of": str(delegator)},
            )
        return delegator

    def _rights(self, delegator: Actor) -> TokenRights | None:
        return self._token_rights(Caller(surface="delegation", actor=delegator))


def hold_job_to_proposals(
    decision: Decision, actor: Actor, assessment: Assessment, origin: Origin | None = None
) -> Decision:
    """Make a person decide what a job, or a turn that started on its own, sends to other machines.

    No rule or setting lifts it; a denial stays one.
    """
    is_unattended = actor.kind is ActorKind.JOB or (origin is not None and origin.is_unattended)
    if not is_unattended or not assessment.outward or decision.verdict is Verdict.DENY:
        return decision
    # The reasons of an `allow` are not reasons to ask.
    reasons = decision.reasons if decision.verdict is Verdict.ASK else ()
    reasons = tuple(dict.fromkeys((JOB_REASON, *reasons)))
    return replace(decision, verdict=Verdict.ASK, reasons=reasons, person_only=True)
