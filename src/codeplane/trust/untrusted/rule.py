"""What untrusted content means for a decision: whatever the rules say, a person answers for each outward call."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.operation import Assessment, Operation, Risk
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.policy.judgement import Fired, Judgement
from codeplane.trust.untrusted.table import Mark

RULE = "untrusted content"
_MAX_WHAT = 120
_MAX_NAMED = 5
_GIT = "git."
_WITH_GIT = frozenset({"checkpoint", "undo", "redo"})
# Files that move are moved in git's index, which nothing else looks at.
_OF_INDEX = "post-index-change"


class UntrustedRule:
    """Makes outward calls of whoever has read untrusted content a question for a person.

    `online_programs` are the hooks and filters of git that cannot be kept from the network; it may block. A call that
    would run one is outward: agents can write what such programs run.
    """

    def __init__(self, online_programs: Callable[[], tuple[str, ...]]) -> None:
        self._online_programs = online_programs

    async def decision_after(
        self, decision: Decision, operation: Operation, assessment: Assessment, mark: Mark | None
    ) -> Decision:
        """The decision about a call whose caller has read untrusted content; a denial stays one."""
        reason = await self._reason(decision, operation, assessment, mark)
        if not reason:
            return decision
        # Why it would run otherwise is no reason to ask.
        others = decision.reasons if decision.verdict is Verdict.ASK else ()
        return replace(decision, verdict=Verdict.ASK, reasons=(reason, *others), person_only=True)

    async def judgement_after(
        self, judgement: Judgement, operation: Operation, assessment: Assessment, mark: Mark | None
    ) -> Judgement:
        """The same with the rules that spoke, for a call that is only thought of."""
        decision = await self.decision_after(judgement.decision, operation, assessment, mark)
        if decision is judgement.decision:
            return judgement
        fired = Fired(policy=RULE, rule="ask", reason=decision.reasons[0])
        return Judgement(decision=decision, fired=(*judgement.fired, fired))

    async def _reason(
        self, decision: Decision, operation: Operation, assessment: Assessment, mark: Mark | None
    ) -> str | None:
        """Why a person is asked, for that person; None when nobody is."""
        if decision.verdict is Verdict.DENY:
            return None
        if assessment.outward:
            return f"{_read(mark)}, and this reaches other machines"
        if not (operation.mutates and assessment.risk is not Risk.READ):
            return None
        names = _run_by(operation, await asyncio.to_thread(self._online_programs))
        if not names:
            return None
        more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
        shown = f"{', '.join(names[:_MAX_NAMED])}{more}"
        return f"{_read(mark)}, and this runs hooks or filters of git ({shown}) with the network, without bubblewrap"


def _run_by(operation: Operation, names: tuple[str, ...]) -> tuple[str, ...]:
    """Of hooks and filters, those that an operation may have git run."""
    if operation.name.startswith(_GIT) or operation.name in _WITH_GIT:
        return names
    return tuple(name for name in names if name == _OF_INDEX) if operation.journaled else ()


def _read(mark: Mark | None) -> str:
    read = "untrusted content was read"
    if mark is not None:
        what = f"{mark.what[:_MAX_WHAT]}{'…' if len(mark.what) > _MAX_WHAT else ''}"
        read += f" ({mark.operation} by {mark.actor}, {rfc3339(mark.since_ns)[:19]}Z: {what})"
    return read
