"""Recovery of the last run: calls without an end, half-made changes, git that still runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.journal import Journal
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.edit.recovery_events import record_recovered
from codeplane.git.write.call_endings import CallEndings
from codeplane.git.write.job_trees import HOME, TREE, trees_folder
from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.json import JsonObject
from codeplane.kernel.ports import Ending
from codeplane.wiring.edit import Edits
from codeplane.wiring.foundation import Foundation
from codeplane.work.recovery import end_calls, recover

_POLL_SEC = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredTree:
    """The repaired work tree of a job of the last run."""

    mutations: MutationStore
    recovered: Sequence[RecoveredMutation]

    @classmethod
    def all(cls, foundation: Foundation) -> "list[RecoveredTree]":
        """Repair the work trees of jobs that the last run was changing."""
        folder, config = trees_folder(foundation.workspace, foundation.config.jobs), foundation.config.edits
        found: list[RecoveredTree] = []
        for tree in sorted(folder.glob(f"*/{TREE}")):
            home = tree.with_name(HOME)
            mutations = MutationStore(home / "undo", foundation.clock, config.undo_days, config.undo_mb)
            journal = Journal(root=tree, folder=home / "journal", mutations=mutations)
            found.append(cls(mutations=mutations, recovered=journal.recover()))
        return found


class LastRun:
    """Records the missing ends of the last run's calls."""

    def __init__(self, *, foundation: Foundation, edits: Edits) -> None:
        self._foundation = foundation
        self._edits = edits

    async def restore(self, catalogue: Catalogue) -> JsonObject:
        """Record the ends of calls and the changes that were put right; returns how many there were of each."""
        log, edits = self._foundation.log, self._edits
        trees = await asyncio.to_thread(RecoveredTree.all, self._foundation)
        repeatable = {operation.name for operation in catalogue if operation.mark.repeatable}
        endings = [*(self._endings_in(tree, catalogue) for tree in trees), edits.endings(log, catalogue)]

        async def ending_of(call_id: str, operation: str, since_ns: int) -> Ending:
            """The ending of a call in the work tree that knows it, or else in the checkout."""
            if operation in repeatable:
                return Ending(state="not_done", reason="the same call with its key does it once")
            for known in endings[:-1]:
                ending = await known.of(call_id, operation, since_ns)
                if ending.state != "not_done":
                    return ending
            return await endings[-1].of(call_id, operation, since_ns)

        found = await recover(log, ending_of, is_own=log.is_own if log.is_shared else None)
        for tree in trees:
            found |= await record_recovered(log, tree.recovered, tree.mutations)
        found |= await record_recovered(log, edits.recovered, edits.kept, edits.moves)
        return {name: count for name, count in found.items() if count}

    def _endings_in(self, tree: RecoveredTree, catalogue: Catalogue) -> CallEndings:
        return CallEndings(
            log=self._foundation.log,
            journaled=[operation.name for operation in catalogue if operation.journaled],
            recovered=tree.recovered,
            mutations=tree.mutations,
            notes={},
        )

    def state(self) -> JsonObject:
        """The mutations that git of the last run still works on."""
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
