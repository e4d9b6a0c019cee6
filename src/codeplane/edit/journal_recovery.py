"""Ends journaled batches: kept for undo, rolled back, or rolled forward after a crash, sparing what others changed."""

import errno
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from codeplane.edit.batch import Batch, Entry
from codeplane.edit.file_state import FileState
from codeplane.edit.folder_descriptors import LinkRetries
from codeplane.edit.fsync import Fsync
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MANIFEST, MutationStore, read_manifest, sync_folder, write_manifest
from codeplane.edit.staging import PLAN, Step
from codeplane.edit.work_tree import WorkTree

ROLLBACK = "back.json"
# Errors that mean something else took the place meanwhile, not that the disk failed.
_PLACE_TAKEN = frozenset({errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOENT, errno.ENOTEMPTY, errno.ELOOP})


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredMutation:
    """A mutation that was under way when the last run ended; `conflicts` are paths that others changed."""

    journal_id: str
    mutation_id: str
    outcome: Literal["applied", "rolled_back", "stuck"]
    kept: MutationRecord | None = None
    conflicts: tuple[str, ...] = ()
    reason: str = ""
    # False when the files do not show whether it was done completely.
    certain: bool = True

    @property
    def call_id(self) -> str | None:
        """The call that made it, if known."""
        return self.kept.call_id if self.kept is not None else None


class JournalRecovery:
    """Finish, roll back or recover the batches of one work tree."""

    def __init__(self, *, root: Path, mutations: MutationStore, syncs: Fsync, step: Step) -> None:
        self._root = root
        self._mutations = mutations
        self._syncs = syncs
        self._step = step

    def recover(self, folder: Path) -> RecoveredMutation:
        """Complete or roll back a batch that the last run left under way."""
        forward, back = (folder / MANIFEST).exists(), (folder / ROLLBACK).exists()
        if not forward and not back:
            planned = read_manifest(folder / PLAN)
            shutil.rmtree(folder, ignore_errors=True)
            self._step("discarded")
            mutation_id = planned.mutation_id if planned is not None else folder.name
            return RecoveredMutation(
                journal_id=folder.name, mutation_id=mutation_id, outcome="rolled_back", kept=planned
            )
        record = read_manifest(folder / (MANIFEST if forward else ROLLBACK))
        conflicts: list[str] = []
        reason = ""
        try:
            if record is None:
                raise ValueError("its manifest cannot be read")
            batch = Batch.of(record.details)
            if back:
                conflicts = self.roll_back(folder, batch)
                shutil.rmtree(folder)
            else:
                conflicts = self._roll_forward(folder, record, batch)
        except (OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
        return RecoveredMutation(
            journal_id=folder.name,
            mutation_id=record.mutation_id if record is not None else folder.name,
            outcome="stuck" if reason else "rolled_back" if back else "applied",
            kept=record,
            conflicts=tuple(conflicts),
            reason=reason,
        )

    def finish(self, folder: Path, record: MutationRecord) -> None:
        """Move the folder to the history, replacing an older record of the same mutation.

        If the system crashes before that is durable, recovery finds everything done and moves it again.
        """
        target = self._mutations.folder_of(record.mutation_id)
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            sync_folder(target.parent.parent)
        self._step("before drop")
        self._mutations.drop(record.mutation_id)
        self._step(f"before {target.name}")
        folder.rename(target)
        self._step(f"after {target.name}")
        self._mutations.count_folder(target)

    def roll_back(self, folder: Path, batch: Batch) -> list[str]:
        """Restore what was replaced and return the paths that others changed, which stay as they are."""
        conflicts: list[str] = []
        retries = LinkRetries()
        with WorkTree(self._root, step=self._step) as tree:

            def put_back(entry: Entry) -> None:
                if _must_change(tree, batch, entry, entry.after, entry.before, conflicts, retries):
                    _unless_linked(lambda: tree.put_back(folder, entry), entry, conflicts, retries)

            for entry in batch.entries:
                tree.remove_temp(entry)
                if entry.before is None:
                    put_back(entry)
            # New folders may stand in the place of files to restore.
            for path in reversed(batch.made):
                tree.drop_folder(path)
            for entry in batch.entries:
                if entry.before is not None:
                    put_back(entry)
            self._syncs.run(tree.sync())
        return conflicts

    def _roll_forward(self, folder: Path, record: MutationRecord, batch: Batch) -> list[str]:
        """Complete a committed batch file by file and return the paths that others changed."""
        conflicts: list[str] = [entry.path for entry in batch.entries if entry.skipped]
        known = len(conflicts)
        retries = LinkRetries()
        with WorkTree(self._root, step=self._step) as tree:
            for deletes in (True, False):
                for entry in batch.entries:
                    if (entry.after is None) is not deletes or entry.skipped:
                        continue
                    tree.remove_temp(entry)
                    if _must_change(tree, batch, entry, entry.before, entry.after, conflicts, retries):
                        _apply(tree, folder, entry, conflicts)
                if deletes:
                    tree.prepare_folders(batch)
            self._syncs.run(tree.sync())
        if len(conflicts) > known:
            skipped = frozenset(conflicts)
            entries = tuple(replace(entry, skipped=entry.path in skipped) for entry in batch.entries)
            record = replace(record, details=replace(batch, entries=entries).to_json())
            write_manifest(folder / MANIFEST, record)
        self.finish(folder, record)
        sync_folder(self._mutations.folder_of(record.mutation_id).parent)
        sync_folder(folder.parent)
        self._step("finished")
        return conflicts


def _must_change(
    tree: WorkTree,
    batch: Batch,
    entry: Entry,
    left: FileState | None,
    wanted: FileState | None,
    conflicts: list[str],
    retries: LinkRetries,
) -> bool:
    """Whether a file is still as it was left and differs from `wanted`; adds to `conflicts` when others changed it."""
    states: list[FileState | None] = []
    _unless_linked(lambda: states.append(tree.state_of(entry, batch)), entry, conflicts, retries)
    if not states:
        return False
    if states[0] not in (left, wanted):
        conflicts.append(entry.path)
    return states[0] == left != wanted


def _unless_linked(work: Callable[[], None], entry: Entry, conflicts: list[str], retries: LinkRetries) -> None:
    """Run `work`; a link that stays in the way is a conflict."""
    try:
        retries.run(work)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        conflicts.append(entry.path)


def _apply(tree: WorkTree, folder: Path, entry: Entry, conflicts: list[str]) -> None:
    """Replace one file; something else in its place is a conflict."""
    try:
        if entry.after is None:
            tree.delete(entry)
        else:
            tree.place(folder, entry)
    except OSError as error:
        if error.errno not in _PLACE_TAKEN:
            raise
        conflicts.append(entry.path)
