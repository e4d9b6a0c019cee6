"""Stage 3: what the call would do, and whether the rules allow it, want a person asked or refuse it."""

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from codeplane.kernel.call import Call
from codeplane.kernel.errors import Internal, PolicyDenied
from codeplane.kernel.operation import Assessment, Risk
from codeplane.kernel.ports import Approver, Authority, Decision, Verdict
from codeplane.kernel.stages.idempotency import KeyClaims
from codeplane.kernel.stages.progress import Authorised, Identified


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorise:
    """Refuses what the rules deny."""

    name: ClassVar[str] = "authorise"
    authority: Authority
    approver: Approver | None
    keys: KeyClaims

    async def run(self, identified: Identified) -> Authorised:
        """Assess the call and ask the rules about it."""
        recalled = await self._was_asked_before(identified)
        assessment, decision = await self.judge(identified)
        return Authorised(identified=identified, assessment=assessment, decision=decision, recalled=recalled)

    async def judge(self, identified: Identified) -> tuple[Assessment, Decision]:
        """Assess the call and ask the rules; approve repeats it after a person has decided."""
        call = identified.call
        if call.operation.assess is None or identified.request.is_assessed_at_once():
            assessment = call.operation.assessment(identified.request, call)
        else:
            # It may ask the disk or git, which must not block the event loop.
            assessment = await asyncio.to_thread(call.operation.assessment, identified.request, call)
        return assessment, await self._decide(call, assessment)

    async def _decide(self, call: Call, assessment: Assessment) -> Decision:
        operation = call.operation
        if assessment.risk is not Risk.READ and not operation.mutates:
            # Its intent would not be recorded, so it must not run.
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

    async def _was_asked_before(self, identified: Identified) -> bool:
        """Whether a person was asked under this key before: then it is theirs to decide, whatever the rules say now.

        A rejection is raised without assessing the call again.
        """
        call = identified.call
        if self.approver is None or call.idempotency_key is None or not call.operation.mutates:
            return False
        if self.keys.is_first_use(identified.received, call.operation.name, call.idempotency_key):
            return False
        return await self.approver.recall(call, identified.received.arguments_hash)
