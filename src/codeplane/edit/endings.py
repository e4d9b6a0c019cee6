"""How a decided batch ends: kept for undo, taken back, or completed later, leaving alone what others have changed."""

import errno
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from codeplane.edit.beneath import Patience
from codeplane.edit.durable import Syncs
from codeplane.edit.entry import Batch, Entry, Was
from codeplane.edit.history.kept import Kept
from codeplane.edit.history.mutations import MANIFEST, KeptMutations, read_manifest, sync_folder, write_manifest
from codeplane.edit.staging import PLAN, Step
from codeplane.edit.work_tree import WorkTree

BACK = "back.json"
# Something else took the place meanwhile, which is nothing that the disk could be blamed for.
_TAKEN = frozenset({errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOENT, errno.ENOTEMPTY, errno.ELOOP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """A batch that was under way when the last run ended; `conflicts` were changed by others and left alone."""

    journal_id: str
    mutation_id: str
    outcome: Literal["applied", "rolled_back", "stuck"]
    kept: Kept | None = None
    conflicts: tuple[str, ...] = ()
    reason: str = ""
    # False where what is there does not tell whether it was done as a whole.
    certain: bool = True

    @property
    def call_id(self) -> str | None:
        """The call it belongs to, where that is known."""
        return self.kept.call_id if self.kept is not None else None


class Endings:
    """Ends batches of one work tree that are not simply done."""

    def __init__(self, *, root: Path, kept: KeptMutations, syncs: Syncs, step: Step) -> None:
        self._root = root
        self._kept = kept
        self._syncs = syncs
        self._step = step

    def of(self, folder: Path) -> Recovered:
        """End what the last run left under way."""
        forward, back = (folder / MANIFEST).exists(), (folder / BACK).exists()
        if not forward and not back:
            planned = read_manifest(folder / PLAN)
            shutil.rmtree(folder, ignore_errors=True)
            self._step("discarded")
            mutation_id = planned.mutation_id if planned is not None else folder.name
            return Recovered(journal_id=folder.name, mutation_id=mutation_id, outcome="rolled_back", kept=planned)
        kept = read_manifest(folder / (MANIFEST if forward else BACK))
        conflicts: list[str] = []
        reason = ""
        try:
            if kept is None:
                raise ValueError("its manifest cannot be read")
            batch = Batch.of(kept.details)
            if back:
                conflicts = self.taken_back(folder, batch)
                shutil.rmtree(folder)
            else:
                conflicts = self._completed(folder, kept, batch)
        except (OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
        return Recovered(
            journal_id=folder.name,
            mutation_id=kept.mutation_id if kept is not None else folder.name,
            outcome="stuck" if reason else "rolled_back" if back else "applied",
            kept=kept,
            conflicts=tuple(conflicts),
            reason=reason,
        )

    def finish(self, folder: Path, kept: Kept) -> None:
        """Move the folder to where it can be undone from, in place of what is there of the same mutation.

        Should the system go down before that is durable, recovery finds everything done and moves it once more.
        """
        target = self._kept.folder_of(kept.mutation_id)
        if not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            sync_folder(target.parent.parent)
        self._step("before drop")
        self._kept.drop(kept.mutation_id)
        self._step(f"before {target.name}")
        folder.rename(target)
        self._step(f"after {target.name}")
        self._kept.grew(target)

    def taken_back(self, folder: Path, batch: Batch) -> list[str]:
        """Put back what was replaced; what is neither as before nor as planned is somebody else's, and stays."""
        conflicts: list[str] = []
        patience = Patience()
        with WorkTree(self._root, syncs=self._syncs, step=self._step) as tree:

            def put_back(entry: Entry) -> None:
                if _is_ours(tree, batch, entry, entry.after, entry.before, conflicts, patience):
                    _unless_linked(lambda: tree.put_back(folder, entry), entry, conflicts, patience)

            for entry in batch.entries:
                tree.clear(entry)
                if entry.before is None:
                    put_back(entry)
            # Folders that were made may stand where files have to come back to.
            for path in reversed(batch.made):
                tree.drop_folder(path)
            for entry in batch.entries:
                if entry.before is not None:
                    put_back(entry)
            tree.durable()
        return conflicts

    def _completed(self, folder: Path, kept: Kept, batch: Batch) -> list[str]:
        """Complete a decided batch file by file, leaving alone what others have changed since."""
        conflicts: list[str] = [entry.path for entry in batch.entries if entry.skipped]
        known = len(conflicts)
        patience = Patience()
        with WorkTree(self._root, syncs=self._syncs, step=self._step) as tree:
            for deletes in (True, False):
                for entry in batch.entries:
                    if (entry.after is None) is not deletes or entry.skipped:
                        continue
                    tree.clear(entry)
                    if _is_ours(tree, batch, entry, entry.before, entry.after, conflicts, patience):
                        _redone(tree, folder, entry, conflicts)
                if deletes:
                    tree.prepare_folders(batch)
            tree.durable()
        if len(conflicts) > known:
            skipped = frozenset(conflicts)
            entries = tuple(replace(entry, skipped=entry.path in skipped) for entry in batch.entries)
            kept = replace(kept, details=replace(batch, entries=entries).to_json())
            write_manifest(folder / MANIFEST, kept)
        self.finish(folder, kept)
        sync_folder(self._kept.folder_of(kept.mutation_id).parent)
        sync_folder(folder.parent)
        self._step("finished")
        return conflicts


def _is_ours(
    tree: WorkTree,
    batch: Batch,
    entry: Entry,
    left: Was | None,
    wanted: Was | None,
    conflicts: list[str],
    patience: Patience,
) -> bool:
    """Whether a file is still as it was left and has to change; one that others changed is noted."""
    found: list[Was | None] = []
    _unless_linked(lambda: found.append(tree.state_of(entry, batch)), entry, conflicts, patience)
    if not found:
        return False
    if found[0] not in (left, wanted):
        conflicts.append(entry.path)
    return found[0] == left != wanted


def _unless_linked(work: Callable[[], None], entry: Entry, conflicts: list[str], patience: Patience) -> None:
    """Do it; a link that stays in the way is somebody else's, and noted."""
    try:
        patience.with_links(work)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        conflicts.append(entry.path)


def _redone(tree: WorkTree, folder: Path, entry: Entry, conflicts: list[str]) -> None:
    """Replace one file, unless something stands in its way."""
    try:
        if entry.after is None:
            tree.delete(entry)
        else:
            tree.place(folder, entry)
    except OSError as error:
        if error.errno not in _TAKEN:
            raise
        conflicts.append(entry.path)
