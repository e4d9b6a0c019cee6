"""Decides what a call may do: protected paths first, then the caller's capabilities, then the policy. In doubt, no."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from codeplane.kernel.actor import Caller
from codeplane.kernel.arguments import normalise_arguments
from codeplane.kernel.call import Call, Operation
from codeplane.kernel.config import TrustConfig
from codeplane.kernel.errors import CodePlaneError, PolicyDenied, TooLarge
from codeplane.kernel.event_log import EventScope
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment, Request, Result, Risk
from codeplane.kernel.ports import Decision, Verdict
from codeplane.kernel.workspace_request import WorkspaceRequest
from codeplane.trust.capabilities.grant import Grant, TokenRights, is_approval_mode, stricter_mode
from codeplane.trust.capabilities.grants import Grants
from codeplane.trust.decision_record import record_step_decision, record_step_refusal
from codeplane.trust.delegation import Delegation, hold_job_to_proposals
from codeplane.trust.people import is_person, require_person
from codeplane.trust.policy.hints import with_arguments
from codeplane.trust.policy.input_document import CallContext, build_input, with_link_targets
from codeplane.trust.policy.judgement import stricter
from codeplane.trust.policy.policy import Policy
from codeplane.trust.protected_paths import refuse_protected_target
from codeplane.trust.untrusted.marks import UntrustedMarks
from codeplane.trust.untrusted.rule import UntrustedRule

_MAX_SHOWN = 200
_MAX_LISTED = 2000
# What a conversation consists of: it does not change the repository, and the calls of its turns are decided separately.
_CONVERSATION = (
    "thread.create",
    "thread.fork",
    "thread.rename",
    "thread.configure",
    "thread.archive",
    "turn.send",
    "turn.cancel",
)


class TokenRightsSource(Protocol):
    """Looks up the rights of the token behind a call."""

    def token_rights(self, caller: Caller) -> TokenRights | None:
        """The rights of the caller's own token; None for callers whose rights come from elsewhere."""
        ...

    def may_converse(self, caller: Caller) -> bool:
        """Whether the caller may open threads and send turns, as who shows the owner's token in a conversation."""
        ...


class CallAuthority:
    """The authorise stage of the conveyor."""

    def __init__(
        self,
        *,
        holdings: TokenRightsSource,
        grants: Grants,
        delegation: Delegation,
        policy: Policy,
        untrusted: UntrustedMarks,
        rule: UntrustedRule,
        config: TrustConfig,
    ) -> None:
        self._holdings = holdings
        self._grants = grants
        self._delegation = delegation
        self._policy = policy
        self._untrusted = untrusted
        self._rule = rule
        self._config = config

    async def decide(self, call: Call, assessment: Assessment) -> Decision:
        """Allow, ask or deny; CapabilityDenied when nothing the caller holds covers the call."""
        try:
            decision = await self._decide(call, assessment)
        except CodePlaneError as error:
            record_step_refusal(call, assessment, error)
            raise
        record_step_decision(call, assessment, decision)
        return decision

    async def _decide(self, call: Call, assessment: Assessment) -> Decision:
        decision = await self._decide_by_policy(call, assessment)
        if decision.verdict is not Verdict.ALLOW or call.caller.origin is not None:
            # It is recorded.
            decision = replace(decision, policy_id=self._policy.version)
        # Last, and no rules: no policy or setting can lift them.
        decision = hold_job_to_proposals(decision, call.actor, assessment, call.caller.origin)
        if (mark := self._untrusted.mark_of_call(call)) is not None:
            decision = await self._rule.apply(decision, call.operation, assessment, mark)
        return replace(decision, hint=_hint(call, decision)) if decision.hint else decision

    async def _decide_by_policy(self, call: Call, assessment: Assessment) -> Decision:
        # First, because what is gathered for the rules depends on which parts of the input they read.
        await self._policy.reload()
        decision = await self._policy.decide_async(self._checked_input(call, assessment))
        reads_paths = self._policy.input_use.reads("paths")
        if (
            call.request is None
            or decision.verdict is Verdict.DENY
            or not (reads_paths or decision.verdict is Verdict.ASK)
        ):
            return decision
        # A person is not asked about a call that would be refused later, and is asked about all of its paths at once.
        paths = await asyncio.to_thread(self._expected_paths, call.operation, call.request)
        for path in paths if reads_paths else ():
            path_decision = await self._policy.decide_async(
                self._checked_input(call, Assessment(risk=assessment.risk, paths=(path,)))
            )
            decision = stricter(decision, path_decision)
            if decision.verdict is Verdict.DENY:
                break
        return decision

    def _expected_paths(self, operation: Operation, request: Request) -> tuple[str, ...]:
        """The files that the call will write; PathDenied when one of them is protected."""
        paths = operation.expected_paths(request)
        for path in paths:
            refuse_protected_target(path, self._grants)
        return paths

    def _checked_input(self, call: Call, assessment: Assessment) -> JsonObject:
        """Build the policy's input for a call that the caller's rights cover."""
        if call.operation.mark.people:
            # First: a caller that also lacks a capability would be advised to ask for that.
            require_person(call.actor)
        rights = self._holdings.token_rights(call.caller)
        for path in assessment.paths:
            refuse_protected_target(path, self._grants)
        needs_no_more = call.operation.mark.capability == "spawn_agents" and call.operation.name in _CONVERSATION
        if needs_no_more and self._holdings.may_converse(call.caller):
            own = self._grants.conversation_grant(call.actor)
        else:
            own = self._grants.admit(call.actor, rights, call.operation, assessment)
        return self._document(call, assessment, self._delegation.require(call, assessment, own))

    def may_write(self, call: Call, path: str) -> None:
        """Check a path before it is written.

        No person can be asked any more, so `ask` denies a path that was not part of what was decided.
        """
        refuse_protected_target(path, self._grants)
        self._grants.check_path(call.actor, self._holdings.token_rights(call.caller), path, call.operation)
        self._delegation.check_path(call, path)
        if not self._policy.input_use.reads("paths"):
            return
        risk = call.judged.risk if call.judged is not None else call.operation.mark.risk
        decision = self._policy.decide(self._checked_input(call, Assessment(risk=risk, paths=(path,))))
        if decision.verdict is Verdict.DENY or (decision.verdict is Verdict.ASK and not _is_decided(call, path)):
            raise PolicyDenied(
                f"{path[:_MAX_SHOWN]!r} is not to be written: {'; '.join(decision.reasons)}",
                hint=_hint(call, decision) or None,
                details={
                    "reasons": list(decision.reasons),
                    "path": path[:_MAX_SHOWN],
                    "verdict": decision.verdict.value,
                },
            )

    def event_scope(self, call: Call) -> EventScope | None:
        """Everything for people and for whom a token or a grant gives `context_sharing`; for others their own."""
        actor = call.actor
        if is_person(actor) or self._grants.are_contexts_shared(actor, self._holdings.token_rights(call.caller)):
            return None
        return EventScope(actor=str(actor))

    async def readable(self, call: Call, ids: Sequence[str]) -> frozenset[str]:
        """Those of a list of resources that no rule of the owner's denies or asks about, by one evaluation."""
        await self._policy.reload()
        if not ids or not self._policy.input_use.reads("resources"):
            return frozenset(ids)
        if len(ids) > _MAX_LISTED:
            raise TooLarge(f"{len(ids)} resources at once", details={"max": _MAX_LISTED})
        document = self._checked_input(call, Assessment(risk=Risk.READ))
        return frozenset(ids) - await self._policy.hidden_resources(document, ids)

    async def replays(self, call: Call, result: Result) -> None:
        """Mark the caller again when a replayed result holds untrusted content: the owner may have cleared the mark."""
        if (source := result.untrusted_source()) is not None:
            await self._untrusted.mark(call, *source)

    def _document(self, call: Call, assessment: Assessment, grant: Grant) -> JsonObject:
        context = CallContext.of(
            call,
            mode=self._config.mode,
            allow=(*self._config.allow, *(_CONVERSATION if self._holdings.may_converse(call.caller) else ())),
            workspace=_workspace(call),
            untrusted=self._untrusted.mark_of_call(call) is not None,
            grant={"approval_mode": mode} if (mode := _approval_mode(call, grant)) else None,
        )
        return build_input(
            actor=call.actor,
            operation=call.operation,
            assessment=with_link_targets(assessment, self._grants.resolve_links)
            if self._policy.input_use.reads("paths")
            else assessment,
            context=context,
            # As the operation reads them, so that another spelling cannot evade a rule.
            arguments=normalise_arguments(call.request)
            if call.request and self._policy.input_use.reads("arguments")
            else None,
        )


def _approval_mode(call: Call, grant: Grant) -> str | None:
    """The mode of the caller's token or of the work that it does, whichever is stricter."""
    own = call.caller.origin.approval_mode if call.caller.origin is not None else None
    return stricter_mode(own if is_approval_mode(own) else None, grant.context.approval_mode)


def _hint(call: Call, decision: Decision) -> str:
    """The hint of a decision, with the command for this very call."""
    arguments = {} if call.request is None else normalise_arguments(call.request)
    return with_arguments(decision.hint, call.operation.name, call.actor, arguments)


def _is_decided(call: Call, path: str) -> bool:
    """Whether the path was part of what the rules, or a person, allowed."""
    if call.judged is not None and path in call.judged.paths:
        return True
    # Git tells which files it writes only while it runs; the person who approved it saw what it would do.
    return call.action_id is not None and not (call.judged is not None and call.judged.whole)


def _workspace(call: Call) -> str:
    return (call.request.workspace or "") if isinstance(call.request, WorkspaceRequest) else ""
