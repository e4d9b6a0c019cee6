"""Git mutations that the last run left under way: what git made of them is kept for undo, and told once."""

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
from codeplane.git.write.submodule_addition import SubmoduleAddition
from codeplane.git.write.undo_recording import UndoParts, UndoRecording, has_changed
from codeplane.git.write.worktree_places import forget_excluded
from codeplane.kernel.errors import CodePlaneError, NotGit

_INDEX_ALONE = ("stage", "unstage")
_COMMITS = frozenset({"commit", "amend"})


class MutationRecovery:
    """Ends what was under way. Git went on by itself, or ended in its own way; here nothing of it is touched, but for a
    submodule that was not added to its end."""

    def __init__(self, keeper: UndoParts, warn: Callable[[str], None]) -> None:
        self._keeper = keeper
        self._warn = warn
        self._ended: dict[str, RecoveredMutation] = {}

    async def recover(self) -> list[RecoveredMutation]:
        """Find out what became of each; runs before the first write, and again when it is interrupted.

        Those that git still works on are left, and looked at by `ended`.
        """
        pending = self._keeper.pending
        found: list[RecoveredMutation] = []
        for started in await asyncio.to_thread(pending.all):
            running = await asyncio.to_thread(pending.is_running, started.mutation_id)
            if running and await asyncio.to_thread(pending.is_git_running, started.mutation_id):
                pending.left[started.mutation_id] = started
            else:
                found.append(await self._recovered(started, running))
        return found

    async def ended(self) -> list[RecoveredMutation]:
        """What became of those that were left and that git has come to an end with since, until it is `recorded`."""
        pending = self._keeper.pending
        for mutation_id, started in pending.left.items():
            if mutation_id in self._ended or await asyncio.to_thread(pending.is_git_running, mutation_id):
                continue
            # What git started may take a moment longer.
            running = await asyncio.to_thread(pending.is_running, mutation_id)
            self._ended[mutation_id] = await self._recovered(started, running)
        return list(self._ended.values())

    def recorded(self, recovered: Iterable[RecoveredMutation]) -> None:
        """Let git mutations go on once the log says what became of these."""
        for one in recovered:
            del self._ended[one.mutation_id], self._keeper.pending.left[one.mutation_id]

    async def _recovered(self, started: StartedMutation, running: bool) -> RecoveredMutation:
        keeper, mutation_id = self._keeper, started.mutation_id
        kept, since, certain = None, frozenset[str](), False
        try:
            if started.worktree is not None and not running:
                # It was kept out of commits before it was made, and may not be made.
                await asyncio.to_thread(forget_excluded, keeper.git)
            settled = await self._settle(started) if not running else False
            kept, since, certain = await self._kept(started)
            # Before that was written down, nothing was done.
            settled = settled or (started.what == "submodule_add" and started.submodule is None and kept is None)
            certain = certain or settled
        except NotGit:
            pass
        except (CodePlaneError, OSError) as error:
            return RecoveredMutation(
                journal_id=mutation_id, mutation_id=mutation_id, outcome="stuck", reason=str(error)
            )
        await asyncio.to_thread(keeper.pending.end, mutation_id)
        return RecoveredMutation(
            journal_id=mutation_id,
            mutation_id=mutation_id,
            outcome="applied" if kept is not None else "rolled_back",
            kept=kept or _said(started),
            conflicts=tuple(sorted(since)),
            certain=certain and not running,
        )

    async def _settle(self, started: StartedMutation) -> bool:
        """Take back a submodule that was not added to its end; whether it is certain that it was added, or was not."""
        if started.submodule is None:
            return False
        try:
            addition = SubmoduleAddition.of_json(started.submodule)
        except (KeyError, TypeError):
            return False
        return await addition.settle(self._keeper.git)

    async def _kept(self, started: StartedMutation) -> tuple[MutationRecord | None, frozenset[str], bool]:
        """What is kept of it, or told at least, None when nothing is other than it was; files left alone; and whether
        it is certain that all of it was done, or nothing."""
        keeper, before = self._keeper, started.before
        keeping = UndoRecording(keeper, started, self._warn, more={JOURNAL: started.mutation_id, CALL: started.call_id})
        after = await take_snapshot(keeper.git)
        if started.what in _COMMITS and (before.symbolic, before.head) == (after.symbolic, after.head):
            # New files are staged before a commit, and the commit was not made.
            started = keeping.started = replace(started, what=STAGED)
        since, untouched = frozenset[str](), False
        # Killed right before its end, it was kept already.
        if not keeper.mutations.has(started.mutation_id):
            work = await keeping.work(after)
            untouched = keeping.is_untouched(after, work)
            since = frozenset(one for one in _edited_since(started, after) if one in work and len({*work[one]}) > 1)
            await keeping.undoable(after, {path: work[path] for path in work if path not in since}, before.head)
        else:
            await keeping.ended(after)
        found = await asyncio.to_thread(keeper.mutations.get, started.mutation_id)
        return (
            found or (_said(started) if has_changed(before, after) else None),
            since,
            untouched or await self._is_whole(started, after),
        )

    async def _is_whole(self, started: StartedMutation, after: GitSnapshot) -> bool:
        """Whether all of it was done."""
        if started.worktree is not None:
            return await is_complete(self._keeper.git, Path(started.worktree))
        return _is_whole(started, after)


def _is_whole(started: StartedMutation, after: GitSnapshot) -> bool:
    """Whether what git left shows that it came to its end: it moves refs last, and writes its index at once."""
    before = started.before
    if after.state != "none" or started.what == "stash_push":
        # A stash is recorded before the changes in it are taken out of the work tree.
        return False
    if started.what in _INDEX_ALONE:
        return before.index != after.index
    names = ("symbolic", "head", "refs", "stashes")
    return any(getattr(before, name) != getattr(after, name) for name in names)


def _edited_since(started: StartedMutation, after: GitSnapshot) -> frozenset[str]:
    """Files with edits that git, having come to an end, does not leave: somebody's, made since, or of a git that was
    ended too; they are left alone, and said."""
    if after.state != "none" or started.what.startswith("stash_"):
        return frozenset()
    return after.changed - after.staged


def _said(started: StartedMutation) -> MutationRecord:
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
