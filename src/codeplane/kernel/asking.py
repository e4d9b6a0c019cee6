"""Asking a person about one call: what they are shown, and judging it all again before what they approved runs."""

import asyncio
from dataclasses import dataclass
from typing import cast

from codeplane.kernel.call import Call
from codeplane.kernel.described import described
from codeplane.kernel.errors import Internal, PolicyDenied
from codeplane.kernel.operation import Assessment, Operation, Request, Risk
from codeplane.kernel.passage import Passage
from codeplane.kernel.ports import Approver, Authority, Decision, Identity, Question, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The authorise and approve stages: the rules first, a person where they say so."""

    identity: Identity
    authority: Authority
    approver: Approver | None

    async def judged(self, call: Call, assessment: Assessment) -> Decision:
        """Allowed, or to be asked about; raises when it is neither."""
        operation = call.operation
        if assessment.risk is not Risk.READ and not operation.mutates:
            # Its intent would not be recorded: whoever declared it a read was wrong, so it does not run.
            raise Internal(f"{operation.name} is declared a read and assessed as {assessment.risk.value}")
        call.judged = assessment
        decision = await self.authority.decide(call, assessment)
        if decision.verdict is Verdict.DENY:
            raise PolicyDenied(
                f"{operation.name} is not allowed: {'; '.join(decision.reasons)}",
                hint=decision.hint or None,
                details={"reasons": list(decision.reasons), "risk": assessment.risk.value},
            )
        return decision

    async def recalled(self, passage: Passage) -> bool:
        """Whether a person was asked under this key before: then it is theirs to decide, whatever the rules say now,
        and a no is answered without a look at what it would do."""
        call = cast(Call, passage.call)
        if self.approver is None or passage.key is None or not call.operation.mutates:
            return False
        return await self.approver.recall(call, passage.arguments_hash)

    async def joined(self, passage: Passage, assessment: Assessment, decision: Decision) -> str | None:
        """The key of an equal call that waits already, which the caller is told of: one answer and one run for both."""
        if self.approver is None:
            return None
        found = await self.approver.waiting(await self._question(passage, assessment, decision))
        if found is None:
            return None
        action_id, key = found
        cast(Call, passage.call).warn(f"an equal call waits already as {action_id}: one answer and one run for both")
        return key

    async def approved(
        self, passage: Passage, assessment: Assessment, decision: Decision, *, recalled: bool = False
    ) -> None:
        """Return when nobody has to be asked, or a person said yes to what would be done now; raises otherwise."""
        if decision.verdict is not Verdict.ASK and not recalled:
            return
        call = cast(Call, passage.call)
        if self.approver is None:
            raise PolicyDenied(
                f"{call.operation.name} needs a person's approval, and nobody can be asked here",
                hint="the owner can name it under trust.allow in .codeplane/config.yaml, then: cpl down && cpl up",
                details={"reasons": list(decision.reasons)},
            )
        action_id = await self.approver.approve(await self._question(passage, assessment, decision))
        confirmed = await self._again(passage)
        await self.approver.confirm(action_id, confirmed)
        call.action_id, call.pins = action_id, confirmed.preview.pins

    async def _again(self, passage: Passage) -> Question:
        """Everything judged anew: whoever decided took their time, and things may have changed."""
        call = cast(Call, passage.call)
        if passage.caller.actor is None:
            self.identity.identify(passage.caller, call.operation.name)
        assessment = await asyncio.to_thread(call.operation.assessment, cast(Request, passage.request), call)
        return await self._question(passage, assessment, await self.judged(call, assessment))

    @staticmethod
    async def _question(passage: Passage, assessment: Assessment, decision: Decision) -> Question:
        arguments = passage.arguments or {}
        call, request = cast(Call, passage.call), cast(Request, passage.request)
        operation: Operation = call.operation
        if operation.preview is not None:
            preview = await operation.preview(call, request)
        else:
            preview = described(operation, arguments)
        return Question(
            call=call,
            assessment=assessment,
            decision=decision,
            preview=preview,
            arguments=arguments,
            arguments_hash=passage.arguments_hash,
        )
