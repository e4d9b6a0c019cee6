"""The log's record of a decision: asked ones with their action, all of them for steps of work."""

from codeplane.kernel.call import Call
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.event import Draft, Source
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Assessment
from codeplane.kernel.ports import Decision, Verdict

DECIDED = "policy.decided"
STREAM = "policy"
_MAX_REASONS = 2000
_WORDS = {Verdict.ALLOW: "ALLOW_INTERNAL", Verdict.ASK: "REQUIRE_APPROVAL", Verdict.DENY: "BLOCKED"}
_ALLOWED = "allowed"
_DENIED = "policy_denied"


def decision_draft(call: Call, assessment: Assessment, decision: Decision) -> Draft:
    """The event of a decision about a call."""
    code = {Verdict.ALLOW: _ALLOWED, Verdict.ASK: decision.code, Verdict.DENY: _DENIED}[decision.verdict]
    return _draft(call, assessment, _WORDS[decision.verdict], "; ".join(decision.reasons), code, decision.policy_id)


def record_step_decision(call: Call, assessment: Assessment, decision: Decision) -> None:
    """Record with the call whether a step of work was allowed or blocked; that a person is asked is recorded with the
    question."""
    if call.caller.origin is not None and decision.verdict is not Verdict.ASK:
        call.unrecorded.append(decision_draft(call, assessment, decision))


def record_step_refusal(call: Call, assessment: Assessment, error: CodePlaneError) -> None:
    """Record with the call that a step of work was refused before any rule."""
    if call.caller.origin is not None:
        call.unrecorded.append(_draft(call, assessment, "BLOCKED", error.message, error.name.lower(), ""))


def _draft(call: Call, assessment: Assessment, decision: str, reason: str, code: str, policy_id: str) -> Draft:
    payload: JsonObject = {
        "operation": call.operation.name,
        "decision": decision,
        "reason": reason[:_MAX_REASONS],
        "code": code,
        "risk": assessment.risk.name,
        "identity": call.identity,
        "policy_id": policy_id,
    }
    return Draft(
        stream=STREAM,
        type=DECIDED,
        payload=payload,
        actor=str(call.actor),
        source=Source.POLICY_ENGINE,
        correlation=call.correlation,
    )
