"""Ends what outlives a revoked agent or device: its grants, open questions and remembered answers."""

from codeplane.kernel.call import Call
from codeplane.trust.approvals.approvals import Approvals
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.identity.revocation import RevokedRights


class RightsRevocation:
    """Ends the rights that outlive a token."""

    def __init__(self, *, grants: Grants, approvals: Approvals) -> None:
        self._grants = grants
        self._approvals = approvals

    async def __call__(self, call: Call, actor_id: str, *, everything: bool) -> RevokedRights:
        """Reject its open questions; with `everything`, also end its grants and forget its remembered answers."""
        reason = f"{actor_id} was revoked"
        ended = 0
        if everything:
            for grant in self._grants.grants_of(actor_id):
                await self._grants.revoke(grant, actor=call.actor, reason=reason, correlation=call.correlation)
                ended += 1
        questions = await self._approvals.end_for(actor_id, reason=reason)
        answers = await self._approvals.forget_all(actor_id, by=str(call.actor)) if everything else 0
        return RevokedRights(grants=ended, questions=questions, answers=answers)
