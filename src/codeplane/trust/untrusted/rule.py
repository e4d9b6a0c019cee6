"""The rule on untrusted content: a person decides each outward call, whatever the policy says."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from codeplane.kernel.call import Operation
from codeplane.kernel.clock import rfc3339
from codeplane.kernel.operation import Assessment, Risk
from codeplane.kernel.ports import Decision, Verdict
from codeplane.trust.untrusted.table import Mark

RULE = "untrusted content"
CODE = "untrusted_ingest_block"
_MAX_WHAT = 120
_MAX_NAMED = 5
_GIT = "git."
_USES_GIT = frozenset({"checkpoint", "undo", "redo"})
# Journaled operations move files in git's index, which runs only this hook.
_INDEX_HOOK = "post-index-change"


class UntrustedRule:
    """Makes a person decide the outward calls of agents that have read untrusted content.

    `online_programs` gives the hooks and filters of git that have the network; it may block. A call that would run one
    is outward, because agents can write what such programs run.
    """

    def __init__(self, online_programs: Callable[[], tuple[str, ...]]) -> None:
        self._online_programs = online_programs

    async def apply(
        self, decision: Decision, operation: Operation, assessment: Assessment, mark: Mark | None
    ) -> Decision:
        """The decision about a call of a marked caller; a denial stays one."""
        reason = await self._reason(decision, operation, assessment, mark)
        if not reason:
            return decision
        # The reasons of an `allow` are not reasons to ask.
        reasons = decision.reasons if decision.verdict is Verdict.ASK else ()
        return replace(decision, verdict=Verdict.ASK, reasons=(reason, *reasons), person_only=True, code=CODE)

    async def _reason(
        self, decision: Decision, operation: Operation, assessment: Assessment, mark: Mark | None
    ) -> str | None:
        """Why a person is asked, or None."""
        if decision.verdict is Verdict.DENY:
            return None
        if assessment.outward:
            return f"{_read_text(mark)}, and this reaches other machines"
        if not (operation.mutates and assessment.risk is not Risk.READ):
            return None
        names = _run_by(operation, await asyncio.to_thread(self._online_programs))
        if not names:
            return None
        more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
        shown = f"{', '.join(names[:_MAX_NAMED])}{more}"
        return (
            f"{_read_text(mark)}, and this runs hooks or filters of git ({shown}) with the network, without bubblewrap"
        )


def _run_by(operation: Operation, names: tuple[str, ...]) -> tuple[str, ...]:
    """The hooks and filters that an operation may run through git."""
    if operation.name.startswith(_GIT) or operation.name in _USES_GIT:
        return names
    return tuple(name for name in names if name == _INDEX_HOOK) if operation.journaled else ()


def _read_text(mark: Mark | None) -> str:
    text = "untrusted content was read"
    if mark is not None:
        what = f"{mark.what[:_MAX_WHAT]}{'…' if len(mark.what) > _MAX_WHAT else ''}"
        text += f" ({mark.operation} by {mark.actor}, {rfc3339(mark.since_ns)[:19]}Z: {what})"
    return text
