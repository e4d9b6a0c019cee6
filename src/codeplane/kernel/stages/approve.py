"""Stage 4: a person decides where the rules want one; a repeated call gets its first answer instead."""

from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import PolicyDenied
from codeplane.kernel.ids import new_id
from codeplane.kernel.operation import Assessment
from codeplane.kernel.ports import Approver, Decision, Identity, Question, StoredOutcome
from codeplane.kernel.preview import preview_of_arguments
from codeplane.kernel.stages.authorise import Authorise
from codeplane.kernel.stages.deadline import Deadline
from codeplane.kernel.stages.idempotency import KeyClaims
from codeplane.kernel.stages.progress import Approved, Authorised, Identified
from codeplane.kernel.trace import note


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve:
    """Refuses what a person rejects, and what nobody can be asked about."""

    name: ClassVar[str] = "approve"
    identity: Identity
    authorise: Authorise
    approver: Approver | None
    keys: KeyClaims
    clock: Clock

    async def run(self, authorised: Authorised) -> Approved:
        """Return when nobody has to be asked, an earlier answer is there, or a person approved what would be done."""
        note(verdict=authorised.decision.verdict.value)
        received = authorised.identified.received
        await self._give_key(authorised)
        async with Deadline(received, received.deadline, self.clock):
            replay = await self._earlier_outcome(authorised)
            if replay is None and (authorised.needs_person or authorised.recalled):
                await self._ask(authorised)
        return Approved(authorised=authorised, replay=replay)

    async def _give_key(self, authorised: Authorised) -> None:
        """Outward effects and questions always have a key: the caller's, that of an equal call or a new one."""
        call, assessment = authorised.identified.call, authorised.assessment
        if call.idempotency_key is not None:
            return
        if authorised.needs_person or (call.operation.mutates and assessment.outward):
            joined = await self._join(authorised) if authorised.needs_person and assessment.outward else None
            call.idempotency_key = authorised.identified.received.key = joined or new_id("key")

    async def _join(self, authorised: Authorised) -> str | None:
        """The key of an equal call that is waiting already: one answer and one run for both."""
        if self.approver is None:
            return None
        waiting = await self.approver.find_equal_action(
            await _question(authorised.identified, authorised.assessment, authorised.decision)
        )
        if waiting is None:
            return None
        action_id, key = waiting
        authorised.identified.call.warn(f"an equal call waits already as {action_id}: one answer and one run for both")
        return key

    async def _earlier_outcome(self, authorised: Authorised) -> StoredOutcome | None:
        call = authorised.identified.call
        if not call.operation.mutates or authorised.only_reads or call.idempotency_key is None:
            return None
        return await self.keys.claim(authorised.identified.received, call.operation.name, call.idempotency_key)

    async def _ask(self, authorised: Authorised) -> None:
        identified = authorised.identified
        call = identified.call
        if self.approver is None:
            raise PolicyDenied(
                f"{call.operation.name} needs a person's approval, and nobody can be asked here",
                hint="the owner can name it under trust.allow in .codeplane/config.yaml, then: cpl down && cpl up",
                details={"reasons": list(authorised.decision.reasons)},
            )
        question = await _question(identified, authorised.assessment, authorised.decision)
        action_id = await self.approver.approve(question)
        confirmed = await self._question_now(identified)
        await self.approver.confirm(action_id, confirmed)
        call.action_id, call.pins = action_id, confirmed.preview.pins

    async def _question_now(self, identified: Identified) -> Question:
        """The question as it would be put now: the token may have been revoked and the repository changed."""
        caller = identified.received.caller
        if caller.actor is None:
            self.identity.identify(caller, identified.call.operation.name)
        return await _question(identified, *await self.authorise.judge(identified))


async def _question(identified: Identified, assessment: Assessment, decision: Decision) -> Question:
    call, arguments = identified.call, identified.arguments
    operation = call.operation
    if operation.preview is not None:
        preview = await operation.preview(call, identified.request)
    else:
        preview = preview_of_arguments(operation, arguments)
    return Question(
        call=call,
        assessment=assessment,
        decision=decision,
        preview=preview,
        arguments=arguments,
        arguments_hash=identified.received.arguments_hash,
        until=identified.received.deadline,
    )
