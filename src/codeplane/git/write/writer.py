"""Starts git mutations, one at a time, and keeps each for undo however its call ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from codeplane.edit.history.mutation_record import CALL, MutationStats
from codeplane.edit.history.mutation_store import MutationStore
from codeplane.edit.path_locks import PathLocks
from codeplane.git.read.object_store import ObjectStore
from codeplane.git.safety.command import INHERITED_DESCRIPTORS, Git
from codeplane.git.safety.contents import Contents
from codeplane.git.safety.hooks import Hooks
from codeplane.git.safety.recovery_refs import RecoveryRefs
from codeplane.git.safety.secret_contents import SecretContents
from codeplane.git.write.git_snapshot import GitSnapshot, take_snapshot
from codeplane.git.write.mutation import Consequences, GitMutation, MutationParts, run_to_end
from codeplane.git.write.pending_mutations import PendingMutations, StartedMutation
from codeplane.git.write.stopped_operation import operation_sign
from codeplane.git.write.undo_recording import UndoParts, UndoRecording
from codeplane.git.write.write_permission import WritePermission
from codeplane.kernel.call import Call
from codeplane.kernel.clock import Clock
from codeplane.kernel.errors import CodePlaneError, DeadlineExceeded, GitBusy
from codeplane.kernel.ids import new_id
from codeplane.kernel.plural import ARE, plural
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_LOCAL = ("refs/heads/", "refs/tags/")
_FINISH = {
    "merge": "git_merge with action continue or abort",
    "cherrypick": "git_cherrypick with action continue, skip or abort",
    "revert": "git_revert with action continue, skip or abort",
    "rebase": "git_rebase_continue, git_rebase_skip or git_rebase_abort",
    "bisect": "git bisect reset",
}


class Writer:
    """Start git mutations of one repository, one at a time."""

    def __init__(
        self,
        *,
        git: Git,
        locks: PathLocks,
        consequences: Consequences,
        mutations: MutationStore,
        pending: PendingMutations,
        clock: Clock,
        secrets: SecretRules = NOTHING_SHOWN,
        secret_contents: SecretContents | None = None,
    ) -> None:
        """`secret_contents` keeps overwritten contents of secrets files; without it, git does."""
        self.git = git
        self.secrets = secrets
        self.locks = locks
        self.clock = clock
        self.contents = Contents(git, secret_contents)
        self.recovery = RecoveryRefs(git, clock, self.contents)
        self.permission = WritePermission(git, secrets)
        self._secret_contents = secret_contents
        self._consequences = consequences
        self.undo_parts = UndoParts(
            git=git,
            contents=self.contents,
            recovery=self.recovery,
            store=ObjectStore(git.root),
            mutations=mutations,
            pending=pending,
            clock=clock,
            secrets=secrets,
        )
        self._parts = MutationParts(
            undo=self.undo_parts,
            hooks=Hooks(git, clock),
            consequences=consequences,
            permission=self.permission,
            secrets=secrets,
        )

    @asynccontextmanager
    async def mutation(
        self,
        call: Call,
        what: str,
        *,
        calm: bool = False,
        undoable: bool = True,
        undoes: tuple[str, ...] = _LOCAL,
        worktree: str | None = None,
    ) -> AsyncIterator[GitMutation]:
        """Hold the work tree for one mutation; with `calm`, raise GitBusy while git is in the middle of something.

        `undoes` are the prefixes of refs that an undo moves back, `worktree` is the folder of an added work tree. The
        mutation is recorded before git starts, and kept for undo however the call ends.
        """
        async with self.locks.hold_all():
            await asyncio.to_thread(self.git.refuse_new_links)
            pending = self.undo_parts.pending
            pending.refuse_while_running()
            before = await take_snapshot(self.git)
            if calm:
                self.refuse_busy(before)
            await self._prune(before)
            started = StartedMutation(
                mutation_id=new_id("mut"),
                what=what,
                at_ns=self.clock.now_ns(),
                session_id=call.task.session_id if call.task else None,
                call_id=call.call_id,
                undoable=undoable,
                undoes=undoes,
                sign=await asyncio.to_thread(operation_sign, self.git.folder, before.state),
                before=before,
                worktree=worktree,
            )
            details = MutationStats(actor=str(call.actor)).to_json() | {CALL: call.call_id}
            undo = UndoRecording(self.undo_parts, started, call.warn, details=details)
            mutation = GitMutation(self._parts, call, undo, await self._consequences.before())
            call.change_begins()
            token = INHERITED_DESCRIPTORS.set(())
            try:
                await run_to_end(undo.begin())
                INHERITED_DESCRIPTORS.set(pending.inherited_descriptors(started.mutation_id))
                yield mutation
                call.change_ended(done=True, mutation_id=mutation.kept_id)
            except (Exception, asyncio.CancelledError) as error:
                if not isinstance(error, CodePlaneError) or isinstance(error, DeadlineExceeded):
                    # The call was cut short, perhaps after git had made the change.
                    await run_to_end(mutation.keep_for_undo())
                    if mutation.untouched:
                        call.change_ended(done=False)
                raise
            finally:
                INHERITED_DESCRIPTORS.reset(token)
                await run_to_end(undo.end(call.call_id, done=call.change == "done", kept_id=mutation.kept_id))

    async def _prune(self, before: GitSnapshot) -> None:
        await self.recovery.prune(before.recoveries)
        if self._secret_contents is not None:
            await asyncio.to_thread(self._secret_contents.prune, self.git.config.recovery_days)

    @staticmethod
    def refuse_busy(snapshot: GitSnapshot) -> None:
        """Raise GitBusy, with how to finish, when git is in the middle of something."""
        if snapshot.state != "none":
            raise GitBusy(
                f"a {snapshot.state} is under way", hint=f"finish it first: {_FINISH[snapshot.state]}; see git_status"
            )
        if snapshot.conflicts:
            named = ", ".join(conflict.path for conflict in snapshot.conflicts[:5])
            raise GitBusy(
                f"{plural(len(snapshot.conflicts), 'file', verbs=ARE)} in conflict: {named}",
                hint="resolve them and git_stage them, or git_discard",
            )
