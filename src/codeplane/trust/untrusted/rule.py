"""What untrusted content means for a decision: whatever the rules say, a person answers for each outward call."""

from dataclasses import replace

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.operation import Assessment
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.policy.judgement import Fired, Judgement
from codeplane.trust.untrusted.table import Mark

RULE = "untrusted content"
_MAX_WHAT = 120


def reason_of(mark: Mark | None) -> str:
    """Why the call is asked about, for the person who is asked."""
    read = "untrusted content was read"
    if mark is not None:
        what = f"{mark.what[:_MAX_WHAT]}{'…' if len(mark.what) > _MAX_WHAT else ''}"
        read += f" ({mark.operation} by {mark.actor}, {rfc3339(mark.since_ns)[:19]}Z: {what})"
    return f"{read}, and this reaches other machines"


def decision_after(decision: Decision, assessment: Assessment, reason: str) -> Decision:
    """The decision about a call whose caller has read untrusted content; a denial stays one."""
    if decision.verdict is Verdict.DENY or not assessment.outward:
        return decision
    # Why it would run otherwise is no reason to ask.
    others = decision.reasons if decision.verdict is Verdict.ASK else ()
    return replace(decision, verdict=Verdict.ASK, reasons=(reason, *others), person_only=True)


def judgement_after(judgement: Judgement, assessment: Assessment, reason: str) -> Judgement:
    """The same with the rules that spoke, for a call that is only thought of."""
    decision = decision_after(judgement.decision, assessment, reason)
    if decision is judgement.decision:
        return judgement
    return Judgement(decision=decision, fired=(*judgement.fired, Fired(policy=RULE, rule="ask", reason=reason)))
