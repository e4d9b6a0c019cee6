"""What a call may do: paths that nobody writes, what its caller holds, then what the policy says. In doubt, nothing."""

import asyncio
from dataclasses import replace
from typing import Protocol

from codeplane.kernel.actor import Caller
from codeplane.kernel.arguments import understood
from codeplane.kernel.call import Call
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import CapabilityDenied, PolicyDenied
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Operation, Request, Result
from codeplane.kernel.ports import Decision, Verdict
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.trust.capabilities.grant import Grant
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.capabilities.held import Held
from codeplane.trust.guarded import check_led
from codeplane.trust.people import person
from codeplane.trust.policy.document import Circumstances, document, reached
from codeplane.trust.policy.hints import with_arguments
from codeplane.trust.policy.judgement import stricter
from codeplane.trust.policy.policy import Policy
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.trust.untrusted.rule import UntrustedRule

_SHOWN = 200


class Holdings(Protocol):
    """What tokens say."""

    def held(self, caller: Caller) -> Held | None:
        """What the caller's own token lets it do; None for callers whose rights come from elsewhere."""
        ...


class CallAuthority:
    """The authorise stage of the conveyor."""

    def __init__(
        self,
        *,
        holdings: Holdings,
        grants: Grants,
        policy: Policy,
        untrusted: UntrustedMarks,
        rule: UntrustedRule,
        config: TrustConfig,
    ) -> None:
        self._holdings = holdings
        self._grants = grants
        self._policy = policy
        self._untrusted = untrusted
        self._rule = rule
        self._config = config

    async def decide(self, call: Call, assessment: Assessment) -> Decision:
        """Allow, ask or deny; CapabilityDenied when nothing the caller holds covers the call."""
        decision = await self._decided(call, assessment)
        # Last of all, and no rule: nothing the owner writes into a policy or a setting lifts it.
        if (mark := self._untrusted.covering(call)) is not None:
            decision = await self._rule.decision_after(decision, call.operation, assessment, mark)
        return replace(decision, hint=_hint(call, decision)) if decision.hint else decision

    async def _decided(self, call: Call, assessment: Assessment) -> Decision:
        # First of all, since what is gathered for the rules depends on what they look at.
        await self._policy.renewed()
        decision = await self._policy.decide_aside(self._told(call, assessment))
        looked = self._policy.looks.at("paths")
        if call.request is None or decision.verdict is Verdict.DENY or not (looked or decision.verdict is Verdict.ASK):
            return decision
        # Nobody is asked about what would be refused on the way, and what asks there asks now.
        paths = await asyncio.to_thread(self._foreseen, call.operation, call.request)
        for path in paths if looked else ():
            one = await self._policy.decide_aside(self._told(call, Assessment(risk=assessment.risk, paths=(path,))))
            decision = stricter(decision, one)
            if decision.verdict is Verdict.DENY:
                break
        return decision

    def _foreseen(self, operation: Operation, request: Request) -> tuple[str, ...]:
        """The files that the call comes upon on its way; PathDenied when one of them is nobody's to write."""
        paths = operation.expected_paths(request)
        for path in paths:
            check_led(path, self._grants)
        return paths

    def _told(self, call: Call, assessment: Assessment) -> JsonObject:
        """What the policy is told of a call that the caller's rights cover."""
        if call.operation.mark.people:
            # First of all: whoever lacks a capability as well would be told to ask for that.
            person(call.actor)
        held = self._holdings.held(call.caller)
        for path in assessment.paths:
            check_led(path, self._grants)
        try:
            grant = self._grants.require(call.actor, held, call.operation, assessment)
        except CapabilityDenied as error:
            if error.details.get("missing") == "paths":
                # The same words whether a path was known from the start or learnt of on the way.
                for path in assessment.paths:
                    self._grants.check_path(call.actor, held, path, call.operation)
            raise
        return self._document(call, assessment, grant)

    def may_write(self, call: Call, path: str) -> None:
        """Check a path before it is written: nobody can be asked any more, so a question about one that was not part of
        what was decided is a no."""
        check_led(path, self._grants)
        self._grants.check_path(call.actor, self._holdings.held(call.caller), path, call.operation)
        if not self._policy.looks.at("paths"):
            return
        risk = call.judged.risk if call.judged is not None else call.operation.mark.risk
        decision = self._policy.decide(self._told(call, Assessment(risk=risk, paths=(path,))))
        if decision.verdict is Verdict.DENY or (decision.verdict is Verdict.ASK and not _is_decided(call, path)):
            raise PolicyDenied(
                f"{path[:_SHOWN]!r} is not to be written: {'; '.join(decision.reasons)}",
                hint=_hint(call, decision) or None,
                details={
                    "reasons": list(decision.reasons),
                    "path": path[:_SHOWN],
                    "verdict": decision.verdict.value,
                },
            )

    async def replays(self, call: Call, result: Result) -> None:
        """Mark whoever is given untrusted content again: the owner may have cleared the mark since it was read."""
        if (source := result.untrusted_source()) is not None:
            await self._untrusted.mark(call, *source)

    def _document(self, call: Call, assessment: Assessment, grant: Grant) -> JsonObject:
        circumstances = Circumstances.of(
            call,
            mode=self._config.mode,
            allow=self._config.allow,
            workspace=_workspace(call),
            untrusted=self._untrusted.covering(call) is not None,
            grant={"approval_mode": mode} if (mode := grant.context.approval_mode) else None,
        )
        return document(
            actor=call.actor,
            operation=call.operation,
            assessment=reached(assessment, self._grants.located) if self._policy.looks.at("paths") else assessment,
            circumstances=circumstances,
            # As the operation reads them: another spelling must not pass by a rule.
            arguments=understood(call.request) if call.request and self._policy.looks.at("arguments") else None,
        )


def _hint(call: Call, decision: Decision) -> str:
    """What to do next about this very call."""
    arguments = {} if call.request is None else understood(call.request)
    return with_arguments(decision.hint, call.operation.name, call.actor, arguments)


def _is_decided(call: Call, path: str) -> bool:
    """Whether the path was part of what the rules, or a person, let through."""
    if call.judged is not None and path in call.judged.paths:
        return True
    # Git says what it writes only on the way; whoever approved it saw what that comes to.
    return call.action_id is not None and not (call.judged is not None and call.judged.whole)


def _workspace(call: Call) -> str:
    return (call.request.workspace or "") if isinstance(call.request, WorkspaceRequest) else ""
