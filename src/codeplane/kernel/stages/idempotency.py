"""Keys that make a repeated call one call: claimed by the stages that need to know of an earlier answer."""

from dataclasses import dataclass

from codeplane.kernel.ports import Idempotency, StoredOutcome
from codeplane.kernel.stages.progress import Received


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyClaims:
    """Claims a call's key once; the conveyor releases it when the call has been recorded."""

    idempotency: Idempotency

    async def claim(self, received: Received, operation: str, key: str) -> StoredOutcome | None:
        """How an earlier call with this key ended, None when this call is the first; waits while another runs."""
        if received.claim is None:
            received.claim = await self.idempotency.claim(
                actor=received.actor, operation=operation, key=key, arguments_hash=received.arguments_hash
            )
        return received.claim.replay
