"""Keys that make a repeated call one call: claimed by the stages that need to know of an earlier answer."""

from dataclasses import dataclass

from codeplane.kernel.call_record import key_holder
from codeplane.kernel.ports import Idempotency, StoredOutcome
from codeplane.kernel.stages.progress import Received
from codeplane.kernel.streamed_mutation import StreamedMutations


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyClaims:
    """Claims a call's key once; the conveyor releases it when the call has been recorded."""

    idempotency: Idempotency
    streams: StreamedMutations

    async def claim(self, received: Received, operation: str, key: str) -> StoredOutcome | None:
        """Return the end of an earlier call with this key, None if this is the first; waits while another runs."""
        place = (key_holder(received.actor), operation, key)
        if (stream := self.streams.find(place, received.arguments_hash)) is not None:
            return StoredOutcome(stream=stream)
        if received.claim is None:
            received.claim = await self.idempotency.claim(
                actor=received.actor,
                operation=operation,
                key=key,
                arguments_hash=received.arguments_hash,
                is_new=received.caller.key_is_new,
            )
        return received.claim.replay

    def is_first_use(self, received: Received, operation: str, key: str) -> bool:
        """Whether the call's key is known to be used for the first time, without a look at the log."""
        return received.caller.key_is_new and self.idempotency.is_unused(
            actor=received.actor, operation=operation, key=key
        )
