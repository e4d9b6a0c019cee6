"""What the last run left unfinished: calls without an end, half-made changes, git that still runs."""

import asyncio

from codeplane.edit.recovery_events import record_recovered
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.json import JsonObject
from codeplane.wiring.edit import Edits
from codeplane.wiring.foundation import Foundation
from codeplane.work.recovery import end_calls, recover

_POLL_SEC = 0.25


class LastRun:
    """Records how everything ended whose end was not recorded."""

    def __init__(self, *, foundation: Foundation, edits: Edits) -> None:
        self._foundation = foundation
        self._edits = edits

    async def restore(self, catalogue: Catalogue) -> JsonObject:
        """Record the ends of calls and the changes that were put right; returns how many there were of each."""
        log, edits = self._foundation.log, self._edits
        found = await recover(log, edits.endings(log, catalogue).of, is_own=log.is_own if log.is_shared else None)
        found |= await record_recovered(log, edits.recovered, edits.kept, edits.moves)
        return {name: count for name, count in found.items() if count}

    def state(self) -> JsonObject:
        """What git of the last run still works on, of which nothing is recorded yet."""
        left = [f"{started.what} ({mutation_id})" for mutation_id, started in self._edits.pending.left.items()]
        return {"git_still_runs": list(left)} if left else {}

    async def follow(self, catalogue: Catalogue) -> None:
        """Record what became of each mutation that git of the last run went on with, when git has ended."""
        log, edits, logger = self._foundation.log, self._edits, self._foundation.logs.logger("git")
        for mutation_id, started in edits.pending.left.items():
            logger.warning("git of the last run still runs", mutation_id=mutation_id, what=started.what)
        while edits.unfinished is not None and edits.pending.left:
            await asyncio.sleep(_POLL_SEC)
            try:
                async with edits.locks.hold_all():
                    recovered = await edits.unfinished.list_ended()
                    if not recovered:
                        continue
                    endings = edits.endings(log, catalogue, recovered)
                    calls = {ended.call_id for ended in recovered if ended.call_id is not None}
                    ended = await end_calls(log, endings.of, only=calls)
                    found = await record_recovered(log, recovered, moves=edits.moves)
                    edits.unfinished.mark_recorded(recovered)
                logger.warning("git of the last run has ended", **found, **ended)
            except Exception as error:
                logger.error("what git of the last run did was not recorded", exc_info=error)
