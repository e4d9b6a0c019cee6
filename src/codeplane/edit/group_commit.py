"""Group commit: batches of calls that come while others are written go to the disk together."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.journal import Journal, PlannedBatch

_SMALL_FILES, _SMALL_BYTES = 16, 1024 * 1024
# So many groups are written at once, each of so many batches: one large group would make all of them wait for the last.
_GROUPS, _MAX_GROUP = 4, 4
Outcome = tuple[str, ...] | BaseException


class GroupCommit:
    """Applies batches off the event loop: small ones in groups, each with one wait for the disk."""

    def __init__(self, *, journal: Journal, mutations: MutationStore) -> None:
        self._journal = journal
        self._mutations = mutations
        self._waiting: list[tuple[PlannedBatch, asyncio.Future[tuple[str, ...]]]] = []
        self._committing: set[asyncio.Task[None]] = set()

    async def apply(self, batch: PlannedBatch) -> tuple[str, ...]:
        """Make all changes of a batch or raise and make none; return warnings about keeping it for undo."""
        done: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()
        if not _is_small(batch):
            await self._commit([(batch, done)])
        else:
            self._waiting.append((batch, done))
            if len(self._committing) < _GROUPS:
                task = asyncio.create_task(self._commit_waiting())
                self._committing.add(task)
                task.add_done_callback(self._committing.discard)
        return await done

    async def _commit_waiting(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting[:_MAX_GROUP], self._waiting[_MAX_GROUP:]
            await self._commit(group)

    async def _commit(self, group: Sequence[tuple[PlannedBatch, "asyncio.Future[tuple[str, ...]]"]]) -> None:
        outcomes: list[Outcome]
        try:
            outcomes = await asyncio.to_thread(self._apply_batches, [batch for batch, _ in group])
        except Exception as error:  # no caller may wait for ever
            outcomes = [error] * len(group)
        for (_, done), outcome in zip(group, outcomes, strict=True):
            if done.cancelled():
                continue
            if isinstance(outcome, BaseException):
                done.set_exception(outcome)
            else:
                done.set_result(outcome)

    def _apply_batches(self, batches: Sequence[PlannedBatch]) -> list[Outcome]:
        outcomes = self._journal.apply_together(batches)
        untidy = self._prune() if any(isinstance(outcome, MutationRecord) for outcome in outcomes) else ()
        return [
            outcome if isinstance(outcome, BaseException) else (*self._unless_kept(outcome), *untidy)
            for outcome in outcomes
        ]

    def _unless_kept(self, record: MutationRecord) -> tuple[str, ...]:
        if self._mutations.has(record.mutation_id):
            return ()
        return (
            "the mutation is done, but could not be kept for undo: make .codeplane/undo a folder that can be written",
        )

    def _prune(self) -> tuple[str, ...]:
        """Prune the history; the files are changed by now, so a failure is only a warning."""
        try:
            self._mutations.prune()
        except Exception as error:
            reason = error.strerror if isinstance(error, OSError) else error
            return (f"the mutation is done, but what is kept for undo could not be tidied: {reason}",)
        return ()


def _is_small(batch: PlannedBatch) -> bool:
    """Whether a batch takes so little time that others may wait for it."""
    contents = [change.content for change in batch.changes]
    size = sum(len(content) for content in contents if isinstance(content, bytes))
    return (
        len(contents) <= _SMALL_FILES
        and size <= _SMALL_BYTES
        and not any(isinstance(content, Path) for content in contents)
    )
