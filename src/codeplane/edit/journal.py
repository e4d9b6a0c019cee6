"""The journal: batches of file changes that happen completely or not at all, and are kept for undo.

A batch is a folder with the new contents `new.N`, the old ones `old.N`, and a manifest that maps them to paths. While
the manifest is called `manifest` the batch is only a plan. Renamed to `kept.json` it is committed and will be completed
even after a crash; renamed to `back.json` it will be rolled back. In the end the folder moves to the history.
"""

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codeplane.edit.batch import Batch, Change
from codeplane.edit.disk_error import disk_error
from codeplane.edit.fsync import Fsync, Transaction
from codeplane.edit.history.mutation_record import MutationRecord
from codeplane.edit.history.mutation_store import MANIFEST, MutationStore, manifest_bytes, sync_folder
from codeplane.edit.journal_recovery import ROLLBACK, JournalRecovery, RecoveredMutation
from codeplane.edit.staging import PLAN, Staging, Step
from codeplane.edit.work_tree import Stamps, WorkTree
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import Cancelled, CodePlaneError, FileChanged, StorageFailed

# In the details of a mutation: the batch that was applied last, whose id leads to the outcome event in the log.
JOURNAL = "journal"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBatch:
    """Changes to make under a journal id and to keep as a mutation, unless they are `abandoned` before."""

    journal_id: str
    record: MutationRecord
    changes: Sequence[Change]
    dropped: Sequence[str] = ()
    abandoned: Callable[[], bool] = lambda: False


class Journal:
    """The journal of one work tree; its methods block, and may run at the same time for disjoint paths."""

    def __init__(self, *, root: Path, folder: Path, mutations: MutationStore, step: Step = lambda name: None) -> None:
        """`step` is called before or after every step, so that tests can stop there."""
        self._root = root
        self._folder = folder
        self._mutations = mutations
        self._step = step
        self._syncs = Fsync()
        self._endings = JournalRecovery(root=root, mutations=mutations, syncs=self._syncs, step=step)
        # The folder that the last batch was moved to, until that is durable.
        self._moved_to: Path | None = None

    def apply(
        self,
        journal_id: str,
        record: MutationRecord,
        changes: Sequence[Change],
        *,
        dropped: Sequence[str] = (),
        abandoned: Callable[[], bool] = lambda: False,
    ) -> MutationRecord:
        """Make all changes and keep them under the mutation's id, or raise and make none."""
        planned = PlannedBatch(
            journal_id=journal_id, record=record, changes=changes, dropped=dropped, abandoned=abandoned
        )
        return self._syncs.run(self._transaction(planned))

    def apply_together(self, batches: Sequence[PlannedBatch]) -> list[MutationRecord | BaseException]:
        """Apply batches of disjoint paths, each by itself all or nothing; they wait for the disk together."""
        return self._syncs.run_together([self._transaction(batch) for batch in batches])

    def _transaction(self, planned: PlannedBatch) -> Transaction[MutationRecord]:
        folder, record = self._folder / planned.journal_id, planned.record
        try:
            self._open()
            folder.mkdir()
            batch, record = yield from self._stage(folder, planned)
            stamps = self._check_unchanged(batch)
            if planned.abandoned():
                raise Cancelled("the call was cancelled before anything was changed")
            self._rename(folder / PLAN, folder / MANIFEST)
        except BaseException as error:
            if not (folder / MANIFEST).exists():
                shutil.rmtree(folder, ignore_errors=True)
                if isinstance(error, OSError):
                    raise disk_error(error, self._path_of(error)) from error
                raise
            self._roll_back(folder, record, error)
        try:
            # The journal's folder only now, after the folder that the last batch was moved to.
            yield from self._sync(folder, self._folder)
            self._step("committed")
            yield from self._perform(folder, batch, stamps)
        except (OSError, CodePlaneError) as error:
            self._roll_back(folder, record, error)
        with suppress(OSError):
            # If this fails, the changes are made all the same, and recovery cleans up.
            self._endings.finish(folder, record)
            self._moved_to = self._mutations.folder_of(record.mutation_id).parent
            self._step("finished")
        return record

    def recover(self) -> list[RecoveredMutation]:
        """Recover the batches that the last run left under way; may be interrupted and run again."""
        try:
            names = sorted(entry.name for entry in os.scandir(self._folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            return [RecoveredMutation(journal_id="", mutation_id="", outcome="stuck", reason=str(error))]
        return [self._endings.recover(self._folder / name) for name in names]

    def _open(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            sync_folder(self._folder.parent)

    def _stage(self, folder: Path, planned: PlannedBatch) -> Transaction[tuple[Batch, MutationRecord]]:
        dropped, record = planned.dropped, planned.record
        with Staging(
            self._root,
            folder,
            ours=self._folder.parent,
            dropped=frozenset(dropped),
            syncs=self._syncs,
            step=self._step,
        ) as staging:
            entries = tuple(staging.add(change, number) for number, change in enumerate(planned.changes))
            with self._tree(changes=False) as tree:
                made = tree.missing_folders(entry.path for entry in entries if entry.after is not None)
            self._step("staged")
            more = {**record.details, JOURNAL: folder.name}
            batch = Batch(entries=entries, made=made, dropped=tuple(dropped), more=more)
            record = replace(record, details=batch.to_json())
            moved_to, self._moved_to = self._moved_to, None
            yield from staging.plan(manifest_bytes(record), also=moved_to)
        return batch, record

    def _check_unchanged(self, batch: Batch) -> Stamps:
        """Raise FileChanged unless every file is still as it was staged; return stamps for a last check."""
        stamps: Stamps = {}
        changed = []
        with self._tree(changes=False) as tree:
            for entry in batch.entries:
                try:
                    stamp, state = tree.stamp_and_state(entry, batch)
                except OSError as error:
                    if error.errno != errno.ELOOP:
                        raise
                    changed.append(entry.path)
                    continue
                if entry.path not in batch.twins:
                    stamps[entry.path] = stamp
                if state != entry.before:
                    changed.append(entry.path)
        if changed:
            raise FileChanged(f"changed meanwhile: {', '.join(map(path_text, changed[:20]))}")
        self._step("checked")
        return stamps

    def _perform(self, folder: Path, batch: Batch, stamps: Stamps) -> Transaction[None]:
        with self._tree() as tree:
            try:
                for entry in batch.entries:
                    if entry.after is None:
                        tree.delete(entry, stamps)
                tree.prepare_folders(batch)
                for entry in batch.entries:
                    if entry.after is not None:
                        tree.place(folder, entry, stamps)
            except FileNotFoundError as error:
                raise FileChanged(f"{path_text(self._path_of(error))} went away at the same moment") from error
            yield from tree.sync()

    def _roll_back(self, folder: Path, record: MutationRecord, error: BaseException) -> None:
        """Roll back a committed batch that cannot be completed, then raise the error that stopped it."""
        path = self._path_of(error)
        try:
            self._rename(folder / MANIFEST, folder / ROLLBACK)
            sync_folder(folder)
            conflicts = self._endings.roll_back(folder, Batch.of(record.details))
            shutil.rmtree(folder)
        except OSError as again:
            raise StorageFailed(
                f"{path_text(path)}: {error}; and it could not all be taken back: {again}",
                hint="files may be half-changed; make the disk writable and restart CodePlane, which takes it back",
                details={"journal": folder.name, "paths": [path_text(changed) for changed in record.paths[:100]]},
            ) from error
        outcome = "everything was put back as it was"
        if conflicts:
            outcome += f", but for what others changed meanwhile: {', '.join(map(path_text, conflicts[:20]))}"
        if isinstance(error, OSError):
            raise disk_error(error, path, after=outcome) from error
        raise error

    def _tree(self, *, changes: bool = True) -> WorkTree:
        return WorkTree(self._root, step=self._step, changes=changes)

    def _rename(self, source: Path, target: Path) -> None:
        self._step(f"before {target.name}")
        source.rename(target)
        self._step(f"after {target.name}")

    def _sync(self, *folders: Path) -> Transaction[None]:
        descriptors: list[int] = []
        try:
            descriptors.extend(os.open(folder, _FOLDER) for folder in folders)
            yield descriptors
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _path_of(self, error: BaseException) -> str:
        path = getattr(error, "filename2", None) or getattr(error, "filename", None)
        if not isinstance(path, (str, bytes)):
            return "the disk"
        return os.fsdecode(path).removeprefix(f"{self._root}/")
