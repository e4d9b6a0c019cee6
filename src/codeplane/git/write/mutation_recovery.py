"""Recovers git mutations that the last run left under way: keeps for undo what git did."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from codeplane.edit.history.mutation_record import CALL, MutationRecord
from codeplane.edit.journal import JOURNAL
from codeplane.edit.journal_recovery import RecoveredMutation
from codeplane.git.write.added_worktree import is_complete
from codeplane.git.write.call_endings import STAGED
from codeplane.git.write.git_snapshot import GitSnapshot, take_snapshot
from codeplane.git.write.pending_mutations import StartedMutation
from codeplane.git.write.submodule_addition import Ending, SubmoduleAddition
from codeplane.git.write.submodule_update import SubmoduleUpdate
from codeplane.git.write.undo_recording import UndoParts, UndoRecording, has_changed
from codeplane.git.write.worktree_places import forget_excluded
from codeplane.kernel.errors import CodePlaneError, NotGit

_INDEX_ALONE = ("stage", "unstage")
_COMMITS = frozenset({"commit", "amend"})
_UPDATE = "submodule_update"
_SUBMODULES = frozenset({"submodule_add", _UPDATE})


class MutationRecovery:
    """Recover mutations that were under way; changes nothing but submodules that were added or updated only partly."""

    def __init__(self, parts: UndoParts, warn: Callable[[str], None]) -> None:
        self._parts = parts
        self._warn = warn
        self._ended: dict[str, RecoveredMutation] = {}

    async def recover(self) -> list[RecoveredMutation]:
        """Recover each mutation, before the first write; may be interrupted and run again.

        Those that git still works on are left to `list_ended`.
        """
        pending = self._parts.pending
        recovered: list[RecoveredMutation] = []
        for started in await asyncio.to_thread(pending.all):
            running = await asyncio.to_thread(pending.is_running, started.mutation_id)
            if running and await asyncio.to_thread(pending.is_git_running, started.mutation_id):
                pending.left[started.mutation_id] = started
            else:
                recovered.append(await self._recover(started, running))
        return recovered

    async def list_ended(self) -> list[RecoveredMutation]:
        """Return the mutations that were left and that git has ended since, until they are `mark_recorded`."""
        pending = self._parts.pending
        for mutation_id, started in pending.left.items():
            if mutation_id in self._ended or await asyncio.to_thread(pending.is_git_running, mutation_id):
                continue
            # Children of git may take a moment longer.
            running = await asyncio.to_thread(pending.is_running, mutation_id)
            self._ended[mutation_id] = await self._recover(started, running)
        return list(self._ended.values())

    def mark_recorded(self, recovered: Iterable[RecoveredMutation]) -> None:
        """Allow git mutations again once the log has these."""
        for mutation in recovered:
            del self._ended[mutation.mutation_id], self._parts.pending.left[mutation.mutation_id]

    async def _recover(self, started: StartedMutation, running: bool) -> RecoveredMutation:
        parts, mutation_id = self._parts, started.mutation_id
        record, since, certain = None, frozenset[str](), False
        try:
            if started.worktree is not None and not running:
                # Its line in the exclude file was written first, perhaps without the work tree.
                await asyncio.to_thread(forget_excluded, parts.git)
            settled = await self._settle_submodule(started) if not running else "unknown"
            record, since, certain = await self._store(started)
            if settled == "done" and record is None:
                # An update changes nothing of the repository around the submodules.
                record = _record_of(started)
            # Before the state of the submodule was recorded, nothing was done.
            untouched = started.what in _SUBMODULES and started.submodule is None and record is None
            certain = certain or settled != "unknown" or untouched
        except NotGit:
            pass
        except (CodePlaneError, OSError) as error:
            return RecoveredMutation(
                journal_id=mutation_id, mutation_id=mutation_id, outcome="stuck", reason=str(error)
            )
        await asyncio.to_thread(parts.pending.end, mutation_id)
        return RecoveredMutation(
            journal_id=mutation_id,
            mutation_id=mutation_id,
            outcome="applied" if record is not None else "rolled_back",
            kept=record or _record_of(started),
            conflicts=tuple(sorted(since)),
            certain=certain and not running,
        )

    async def _settle_submodule(self, started: StartedMutation) -> Ending:
        """Roll back a partly added or updated submodule; return how it ended."""
        if started.submodule is None:
            return "unknown"
        try:
            if started.what == _UPDATE:
                return await SubmoduleUpdate.of_json(started.submodule).settle(self._parts.git)
            return await SubmoduleAddition.of_json(started.submodule).settle(self._parts.git)
        except (KeyError, TypeError):
            return "unknown"

    async def _store(self, started: StartedMutation) -> tuple[MutationRecord | None, frozenset[str], bool]:
        """Store the mutation for undo.

        Returns its record, None when nothing changed; the files that others edited since; and whether it is certain
        that it was done completely or not at all.
        """
        parts, before = self._parts, started.before
        undo = UndoRecording(parts, started, self._warn, details={JOURNAL: started.mutation_id, CALL: started.call_id})
        after = await take_snapshot(parts.git)
        if started.what in _COMMITS and (before.symbolic, before.head) == (after.symbolic, after.head):
            # Only the staging of new files before the commit was done.
            started = undo.started = replace(started, what=STAGED)
        since, untouched = frozenset[str](), False
        # A run that was killed right before the end has stored it already.
        if not parts.mutations.has(started.mutation_id):
            changes = await undo.file_changes(after)
            untouched = undo.is_untouched(after, changes)
            edited = _edited_files(started, after)
            since = frozenset(path for path in edited if path in changes and len({*changes[path]}) > 1)
            await undo.store(after, {path: changes[path] for path in changes if path not in since}, before.head)
        else:
            await undo.forget_parts(after)
        record = await asyncio.to_thread(parts.mutations.get, started.mutation_id)
        return (
            record or (_record_of(started) if has_changed(before, after) else None),
            since,
            untouched or await self._is_whole(started, after),
        )

    async def _is_whole(self, started: StartedMutation, after: GitSnapshot) -> bool:
        """Whether all of it was done."""
        if started.worktree is not None:
            return await is_complete(self._parts.git, Path(started.worktree))
        return _is_whole(started, after)


def _is_whole(started: StartedMutation, after: GitSnapshot) -> bool:
    """Whether the repository shows that git finished: it moves refs last and writes its index in one step."""
    before = started.before
    if after.state != "none" or started.what == "stash_push":
        # A stash is recorded before its changes are removed from the work tree.
        return False
    if started.what in _INDEX_ALONE:
        return before.index != after.index
    names = ("symbolic", "head", "refs", "stashes")
    return any(getattr(before, name) != getattr(after, name) for name in names)


def _edited_files(started: StartedMutation, after: GitSnapshot) -> frozenset[str]:
    """Return the files with unstaged edits, which a finished git command does not leave."""
    if after.state != "none" or started.what.startswith("stash_"):
        return frozenset()
    return after.changed - after.staged


def _record_of(started: StartedMutation) -> MutationRecord:
    return MutationRecord(
        mutation_id=started.mutation_id,
        kind="git",
        what=started.what,
        at_ns=started.at_ns,
        session_id=started.session_id,
        state="applied",
        paths=(),
        details={CALL: started.call_id},
    )
