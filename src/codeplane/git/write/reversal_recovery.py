"""Finishes undos and redos of git mutations that the last run left half done."""

import asyncio
from collections.abc import Callable
from typing import Literal

from codeplane.git.safety.recovery_refs import PREFIX
from codeplane.git.write.pending_reversals import StartedReversal
from codeplane.git.write.reversal import GitReversal
from codeplane.git.write.undo_recording import UndoParts
from codeplane.kernel.errors import CodePlaneError

Outcome = Literal["done", "not_done", "half_done"]


class ReversalRecovery:
    """Complete each undo or redo that was under way, or note for its call what is half done."""

    def __init__(self, parts: UndoParts, reversal: GitReversal, log: Callable[[StartedReversal, Outcome, str], None]):
        """`log` is called with each that was under way, its outcome and the reason when it stays half done."""
        self._parts = parts
        self._reversal = reversal
        self._log = log

    async def recover(self) -> None:
        """Run before the first write; may be interrupted and run again."""
        pending = self._parts.pending
        for started in await asyncio.to_thread(pending.reversals.all):
            outcome, reason = await self._recover(started)
            if outcome != "not_done":
                await asyncio.to_thread(self._note, started, outcome, reason)
            await asyncio.to_thread(pending.reversals.end, started.mutation_id)
            self._log(started, outcome, reason)

    async def _recover(self, started: StartedReversal) -> tuple[Outcome, str]:
        verb, mutation_id = started.verb, started.mutation_id
        record = await asyncio.to_thread(self._parts.mutations.get, mutation_id)
        if record is None:
            return "half_done", f"{verb} of {mutation_id}, which is no longer kept; {_describe_backup(started)}"
        try:
            if await asyncio.to_thread(self._parts.pending.reversals.is_running, mutation_id):
                return "half_done", _describe_unfinished(started, record.what, "git of the last run still runs")
            is_over = record.state == ("undone" if verb == "undo" else "applied")
            return ("done" if await self._reversal.complete(record, verb) or is_over else "not_done"), ""
        except (CodePlaneError, OSError) as error:
            return "half_done", _describe_unfinished(started, record.what, str(error))

    def _note(self, started: StartedReversal, outcome: Outcome, reason: str) -> None:
        self._parts.pending.note(
            started.call_id,
            what=started.verb,
            mutation_id=started.mutation_id,
            done=outcome == "done",
            reason=reason,
        )


def _describe_unfinished(started: StartedReversal, what: str, reason: str) -> str:
    verb, mutation_id = started.verb, started.mutation_id
    return (
        f"the {verb} of {what} is half done, and could not be finished: {reason}; put that back, then call {verb} "
        f"with mutation_id: {mutation_id}, which does the rest; {_describe_backup(started)}"
    )


def _describe_backup(started: StartedReversal) -> str:
    return f"how everything was before the {started.verb} is kept in {PREFIX}{started.mutation_id}/{started.verb}"
