"""Batches of files that change all or not at all: staged, committed by one rename, replaced, and kept for undo.

A batch is a folder: `new.N` shall be, `old.N` was, and a manifest says which is which. Under the name `manifest` it is
only a plan; renamed to `kept.json` the batch is decided and will be completed, whatever happens; renamed to `back.json`
it will be taken back. When all is done the folder moves to where it can be undone from.
"""

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from codeplane.edit.durable import Syncs
from codeplane.edit.endings import BACK, Endings, Recovered
from codeplane.edit.entry import Batch, Change
from codeplane.edit.history.kept import Kept
from codeplane.edit.history.mutations import MANIFEST, KeptMutations, manifest_bytes, sync_folder
from codeplane.edit.refusal import refusal
from codeplane.edit.staging import PLAN, Staging, Step
from codeplane.edit.work_tree import Stamps, WorkTree
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import Cancelled, CodePlaneError, FileChanged, StorageFailed

# The batch that left a kept mutation as it is: by it the log's event of the outcome is found.
JOURNAL = "journal"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Journal:
    """The journal of one work tree; its methods block and run off the event loop, several at once if disjoint."""

    def __init__(self, *, root: Path, folder: Path, kept: KeptMutations, step: Step = lambda name: None) -> None:
        """`step` is told of every step before or after it happens, so that tests can stop there."""
        self._root = root
        self._folder = folder
        self._kept = kept
        self._step = step
        self._syncs = Syncs()
        self._endings = Endings(root=root, kept=kept, syncs=self._syncs, step=step)
        # The folder that the last batch was moved to, while that is not known to be durable.
        self._moved_to: Path | None = None

    def apply(
        self,
        journal_id: str,
        kept: Kept,
        changes: Sequence[Change],
        *,
        dropped: Sequence[str] = (),
        abandoned: Callable[[], bool] = lambda: False,
    ) -> Kept:
        """Make all changes and keep them under the mutation's id, or make none and say why."""
        folder = self._folder / journal_id
        try:
            self._open()
            folder.mkdir()
            batch, kept = self._staged(folder, changes, dropped, kept)
            stamps = self._checked(batch)
            if abandoned():
                raise Cancelled("the call was cancelled before anything was changed")
            self._rename(folder / PLAN, folder / MANIFEST)
        except BaseException as error:
            if not (folder / MANIFEST).exists():
                shutil.rmtree(folder, ignore_errors=True)
                if isinstance(error, OSError):
                    raise refusal(error, self._name(error)) from error
                raise
            self._take_back(folder, kept, error)
        try:
            # The journal's folder only now: what the last batch left there has reached the folder it was moved to.
            self._sync(folder, self._folder)
            self._step("committed")
            self._perform(folder, batch, stamps)
        except (OSError, CodePlaneError) as error:
            self._take_back(folder, kept, error)
        with suppress(OSError):
            # Should this fail, everything is done all the same, and recovery clears up.
            self._endings.finish(folder, kept)
            self._moved_to = self._kept.folder_of(kept.mutation_id).parent
            self._step("finished")
        return kept

    def recover(self) -> list[Recovered]:
        """End what the last run left under way; runs before the first read, and again after it was interrupted."""
        try:
            names = sorted(entry.name for entry in os.scandir(self._folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            return [Recovered(journal_id="", mutation_id="", outcome="stuck", reason=str(error))]
        return [self._endings.of(self._folder / name) for name in names]

    def _open(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            sync_folder(self._folder.parent)

    def _staged(
        self, folder: Path, changes: Sequence[Change], dropped: Sequence[str], kept: Kept
    ) -> tuple[Batch, Kept]:
        with Staging(
            self._root,
            folder,
            ours=self._folder.parent,
            dropped=frozenset(dropped),
            syncs=self._syncs,
            step=self._step,
        ) as staging:
            entries = tuple(staging.add(change, number) for number, change in enumerate(changes))
            with self._tree() as tree:
                made = tree.missing(entry.path for entry in entries if entry.after is not None)
            self._step("staged")
            more = {**kept.details, JOURNAL: folder.name}
            batch = Batch(entries=entries, made=made, dropped=tuple(dropped), more=more)
            kept = replace(kept, details=batch.to_json())
            moved_to, self._moved_to = self._moved_to, None
            staging.plan(manifest_bytes(kept), also=moved_to)
        return batch, kept

    def _checked(self, batch: Batch) -> Stamps:
        """Everything is still as it was staged from, and where it was; by these stamps it is looked at once more."""
        stamps: Stamps = {}
        moved_on = []
        with self._tree() as tree:
            for entry in batch.entries:
                try:
                    stamp, found = tree.stamped(entry, batch)
                except OSError as error:
                    if error.errno != errno.ELOOP:
                        raise
                    moved_on.append(entry.path)
                    continue
                if entry.path not in batch.twins:
                    stamps[entry.path] = stamp
                if found != entry.before:
                    moved_on.append(entry.path)
        if moved_on:
            raise FileChanged(f"changed meanwhile: {', '.join(map(shown, moved_on[:20]))}")
        self._step("checked")
        return stamps

    def _perform(self, folder: Path, batch: Batch, stamps: Stamps) -> None:
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
                raise FileChanged(f"{shown(self._name(error))} went away at the same moment") from error
            tree.durable()

    def _take_back(self, folder: Path, kept: Kept, error: BaseException) -> None:
        """Undo a decided batch that cannot be completed, then raise what stopped it."""
        path = self._name(error)
        try:
            self._rename(folder / MANIFEST, folder / BACK)
            sync_folder(folder)
            conflicts = self._endings.taken_back(folder, Batch.of(kept.details))
            shutil.rmtree(folder)
        except OSError as again:
            raise StorageFailed(
                f"{shown(path)}: {error}; and it could not all be taken back: {again}",
                hint="files may be half-changed; make the disk writable and restart CodePlane, which takes it back",
                details={"journal": folder.name, "paths": [shown(one) for one in kept.paths[:100]]},
            ) from error
        said = "everything was put back as it was"
        if conflicts:
            said += f", but for what others changed meanwhile: {', '.join(map(shown, conflicts[:20]))}"
        if isinstance(error, OSError):
            raise refusal(error, path, after=said) from error
        raise error

    def _tree(self) -> WorkTree:
        return WorkTree(self._root, syncs=self._syncs, step=self._step)

    def _rename(self, source: Path, target: Path) -> None:
        self._step(f"before {target.name}")
        source.rename(target)
        self._step(f"after {target.name}")

    def _sync(self, *folders: Path) -> None:
        descriptors: list[int] = []
        try:
            descriptors.extend(os.open(folder, _FOLDER) for folder in folders)
            self._syncs.of(descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

    def _name(self, error: BaseException) -> str:
        named = getattr(error, "filename2", None) or getattr(error, "filename", None)
        if not isinstance(named, (str, bytes)):
            return "the disk"
        return os.fsdecode(named).removeprefix(f"{self._root}/")
