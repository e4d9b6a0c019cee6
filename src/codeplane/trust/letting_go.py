"""What goes with an agent or device that is let in no more: its grants, its open questions, the answers kept for it."""

from codeplane.kernel.call import Call
from codeplane.trust.approvals.approver import Approvals
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.identity.gone import Gone


class LettingGo:
    """Ends what outlives a token."""

    def __init__(self, *, grants: Grants, approvals: Approvals) -> None:
        self._grants = grants
        self._approvals = approvals

    async def __call__(self, call: Call, actor_id: str, *, everything: bool) -> Gone:
        """Reject what waits for it; with `everything`, end its grants and forget the answers that were kept for it."""
        reason = f"{actor_id} was revoked"
        ended = 0
        if everything:
            for grant in self._grants.held_by(actor_id):
                await self._grants.revoke(grant, actor=call.actor, reason=reason, correlation=call.correlation)
                ended += 1
        questions = await self._approvals.end_for(actor_id, reason=reason)
        answers = await self._approvals.forget_all(actor_id, by=str(call.actor)) if everything else 0
        return Gone(grants=ended, questions=questions, answers=answers)
