"""Batches of files that change all or not at all: staged, committed by one rename, replaced, and kept for undo.

A batch is a folder: `new.N` shall be, `old.N` was, and a manifest says which is which. Under the name `manifest` it is
only a plan; renamed to `kept.json` the batch is decided and will be completed, whatever happens; renamed to `back.json`
it will be taken back. When all is done the folder moves to where it can be undone from.
"""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

from codeplane.kernel.errors import Cancelled, CodePlaneError, FileChanged, StorageFailed
from codeplane.repo.edit.beneath import GONE, Patience, beneath, beside, looked_at
from codeplane.repo.edit.entry import Batch, Change, Entry, Was, state_at, state_of
from codeplane.repo.edit.refusal import refusal
from codeplane.repo.edit.staging import Step, put, remove, staged
from codeplane.repo.truth.paths import shown
from codeplane.repo.undo.kept import Kept
from codeplane.repo.undo.mutations import (
    MANIFEST,
    KeptMutations,
    manifest_bytes,
    read_manifest,
    sync_folder,
    write_manifest,
)

T = TypeVar("T")
R = TypeVar("R")
Stamp = tuple[int, int, int, int]
Stamps = dict[str, Stamp | None]
PLAN = "manifest"
# The batch that left a kept mutation as it is: by it the log's event of the outcome is found.
JOURNAL = "journal"
BACK = "back.json"
_THREADS = 5
# Files open at once, while their contents become durable together.
_AT_ONCE = 100
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


class Journal:
    """The journal of one work tree; its methods block and run off the event loop, several at once if disjoint."""

    def __init__(self, *, root: Path, folder: Path, kept: KeptMutations, step: Step = lambda name: None) -> None:
        """`step` is told of every step before or after it happens, so that tests can stop there."""
        self._root = root
        self._folder = folder
        self._kept = kept
        self._step = step

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
            batch = self._staged(folder, changes, dropped, kept)
            kept = replace(kept, details=batch.to_json())
            self._plan(folder, kept)
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
            sync_folder(folder)
            self._step("committed")
            self._perform(folder, batch, stamps)
        except (OSError, CodePlaneError) as error:
            self._take_back(folder, kept, error)
        with suppress(OSError):
            # Should this fail, everything is done all the same, and recovery clears up.
            self._finish(folder, kept)
        return kept

    def recover(self) -> list[Recovered]:
        """End what the last run left under way; runs before the first read, and again after it was interrupted."""
        try:
            names = sorted(entry.name for entry in os.scandir(self._folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            return [Recovered(journal_id="", mutation_id="", outcome="stuck", reason=str(error))]
        return [found for name in names if (found := self._recovered(self._folder / name)) is not None]

    def _recovered(self, folder: Path) -> Recovered | None:
        forward, back = (folder / MANIFEST).exists(), (folder / BACK).exists()
        kept = read_manifest(folder / (MANIFEST if forward else BACK))
        if not forward and not back:
            planned = read_manifest(folder / PLAN)
            shutil.rmtree(folder, ignore_errors=True)
            self._step("discarded")
            mutation_id = planned.mutation_id if planned is not None else folder.name
            return Recovered(journal_id=folder.name, mutation_id=mutation_id, outcome="rolled_back", kept=planned)
        try:
            if kept is None:
                raise ValueError("its manifest cannot be read")
            batch = Batch.of(kept.details)
            if back:
                conflicts = self._undone(folder, batch)
                shutil.rmtree(folder)
                outcome: Literal["applied", "rolled_back"] = "rolled_back"
            else:
                conflicts = self._completed(folder, kept, batch)
                outcome = "applied"
        except (OSError, ValueError) as error:
            mutation_id = kept.mutation_id if kept is not None else folder.name
            return Recovered(
                journal_id=folder.name, mutation_id=mutation_id, outcome="stuck", kept=kept, reason=str(error)
            )
        return Recovered(
            journal_id=folder.name,
            mutation_id=kept.mutation_id,
            outcome=outcome,
            kept=kept,
            conflicts=tuple(conflicts),
        )

    def _open(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir(parents=True, exist_ok=True)
            sync_folder(self._folder.parent)

    def _staged(self, folder: Path, changes: Sequence[Change], dropped: Sequence[str], kept: Kept) -> Batch:
        gone = frozenset(dropped)
        entries: list[Entry] = []
        for start in range(0, len(changes), _AT_ONCE):
            unsynced: list[int] = []
            try:
                if start == 0:
                    # The folder's own name becomes durable while its files do.
                    unsynced.append(os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
                for number, change in enumerate(changes[start : start + _AT_ONCE], start=start):
                    entries.append(
                        staged(
                            self._root,
                            folder,
                            change,
                            number,
                            temp=_beside(change.path, f".cpl-{folder.name}-{number}.tmp"),
                            dropped=gone,
                            ours=self._folder.parent,
                            unsynced=unsynced,
                            step=self._step,
                        )
                    )
                _overlapped(os.fsync, unsynced)
            finally:
                for descriptor in unsynced:
                    os.close(descriptor)
        made = self._missing(entry.path for entry in entries if entry.after is not None)
        self._step("staged")
        return Batch(
            entries=tuple(entries), made=made, dropped=tuple(dropped), more={**kept.details, JOURNAL: folder.name}
        )

    def _missing(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The folders that have to be made, outer ones first."""
        folders: set[str] = set()
        for path in paths:
            above = path.rpartition("/")[0]
            while above and above not in folders and not self._is_folder(above):
                folders.add(above)
                above = above.rpartition("/")[0]
        return tuple(sorted(folders))

    def _is_folder(self, path: str) -> bool:
        try:
            with beneath(self._root, path):
                return True
        except OSError as error:
            if error.errno not in GONE:
                raise
            return False

    def _plan(self, folder: Path, kept: Kept) -> None:
        descriptor = os.open(folder / PLAN, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(manifest_bytes(kept))
            file.flush()
            self._step("plan written")
            os.fsync(file.fileno())
        sync_folder(folder)
        self._step("plan durable")

    def _checked(self, batch: Batch) -> Stamps:
        """Everything is still as it was staged from, and where it was; by these stamps it is looked at once more."""
        twins, folders = batch.twins, batch.folders
        stamps: Stamps = {}
        moved_on = []
        for entry in batch.entries:
            try:
                if entry.path in twins:
                    found = state_of(self._root, entry.path, folders=folders, exact=True)
                else:
                    stamps[entry.path], found = self._looked_at(entry.path, is_dropped=entry.path in folders)
            except OSError as error:
                if error.errno != errno.ELOOP:
                    raise
                moved_on.append(entry.path)
                continue
            if found != entry.before:
                moved_on.append(entry.path)
        if moved_on:
            raise FileChanged(f"changed meanwhile: {', '.join(map(shown, moved_on[:20]))}")
        self._step("checked")
        return stamps

    def _rename(self, source: Path, target: Path) -> None:
        self._step(f"before {target.name}")
        source.rename(target)
        self._step(f"after {target.name}")

    def _perform(self, folder: Path, batch: Batch, stamps: Stamps) -> None:
        touched: set[str] = set()
        try:
            for entry in batch.entries:
                if entry.after is None:
                    self._delete(entry, touched, stamps)
            self._prepare_folders(batch, touched)
            for entry in batch.entries:
                if entry.after is not None:
                    self._place(folder, entry, touched, stamps)
        except FileNotFoundError as error:
            raise FileChanged(f"{shown(self._name(error))} went away at the same moment") from error
        self._sync(touched)

    def _looked_at(self, path: str, *, is_dropped: bool) -> tuple[Stamp | None, Was | None]:
        try:
            with beside(self._root, path) as (at, name):
                # The stamp first: what is written after it is seen by it.
                return _stamp_in(at, name), state_at(at, name, is_dropped=is_dropped)
        except OSError as error:
            if error.errno not in GONE:
                raise
            return None, None

    def _delete(self, entry: Entry, touched: set[str], stamps: Stamps) -> None:
        with beside(self._root, entry.path) as (at, name):
            _unchanged(entry, at, name, stamps)
            self._step(f"delete {entry.image}")
            remove(at, name)
        touched.add(entry.path.rpartition("/")[0])

    def _prepare_folders(self, batch: Batch, touched: set[str]) -> None:
        for path in sorted(batch.dropped, reverse=True):
            self._step("drop folder")
            self._drop_folder(path, touched)
        for path in batch.made:
            self._step("make folder")
            try:
                with beneath(self._root, path, make=True):
                    pass
            except OSError as error:
                # Whatever stands there is met again when the file shall take its place.
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
            touched.add(path.rpartition("/")[0])

    def _drop_folder(self, path: str, touched: set[str]) -> None:
        with suppress(OSError), beside(self._root, path) as (at, name):
            os.rmdir(name, dir_fd=at)
            touched.discard(path)
            touched.add(path.rpartition("/")[0])

    def _place(self, folder: Path, entry: Entry, touched: set[str], stamps: Stamps) -> None:
        assert entry.after is not None
        with beside(self._root, entry.path) as (at, name):
            _unchanged(entry, at, name, stamps)
            temp = entry.temp.rpartition("/")[2]
            put(f"{folder}/{entry.staged}", at, name, temp, link=entry.after.link, step=self._step)
        touched.add(entry.path.rpartition("/")[0])

    def _sync(self, touched: set[str]) -> None:
        self._step("replaced")

        def sync(path: str) -> None:
            try:
                with beneath(self._root, path) as descriptor:
                    os.fsync(descriptor)
            except OSError as error:
                # A folder that went away meanwhile has nothing left to keep.
                if error.errno not in (*GONE, errno.ELOOP):
                    raise

        _overlapped(sync, sorted(touched))
        self._step("durable")

    def _finish(self, folder: Path, kept: Kept) -> None:
        """Move the folder to where it can be undone from, in place of what is there of the same mutation."""
        target = self._kept.folder_of(kept.mutation_id)
        target.parent.mkdir(parents=True, exist_ok=True)
        self._step("before drop")
        self._kept.drop(kept.mutation_id)
        self._rename(folder, target)
        sync_folder(target.parent)
        sync_folder(self._folder)
        self._kept.grew(target)
        self._step("finished")

    def _take_back(self, folder: Path, kept: Kept, error: BaseException) -> None:
        """Undo a decided batch that cannot be completed, then raise what stopped it."""
        path = self._name(error)
        try:
            self._rename(folder / MANIFEST, folder / BACK)
            sync_folder(folder)
            conflicts = self._undone(folder, Batch.of(kept.details))
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

    def _undone(self, folder: Path, batch: Batch) -> list[str]:
        """Put back what was replaced; what is neither as before nor as planned is somebody else's, and stays."""
        conflicts: list[str] = []
        touched: set[str] = set()
        patience = Patience()
        for entry in batch.entries:
            self._clear(entry)
            if entry.before is None and self._is_ours(entry, batch, entry.after, None, conflicts, patience):
                self._put_back(folder, entry, touched, conflicts, patience)
        # Folders that were made may stand where files have to come back to.
        for path in reversed(batch.made):
            self._drop_folder(path, touched)
        for entry in batch.entries:
            if entry.before is not None and self._is_ours(entry, batch, entry.after, entry.before, conflicts, patience):
                self._put_back(folder, entry, touched, conflicts, patience)
        self._sync(touched)
        return conflicts

    def _put_back(
        self, folder: Path, entry: Entry, touched: set[str], conflicts: list[str], patience: Patience
    ) -> None:
        def work() -> None:
            if entry.before is None:
                self._delete(entry, touched, {})
                return
            with beside(self._root, entry.path, make=True) as (at, name):
                temp = entry.temp.rpartition("/")[2]
                put(f"{folder}/{entry.image}", at, name, temp, link=entry.before.link, step=self._step)
            touched.add(entry.path.rpartition("/")[0])

        try:
            patience.with_links(work)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            conflicts.append(entry.path)

    def _completed(self, folder: Path, kept: Kept, batch: Batch) -> list[str]:
        """Complete a decided batch file by file, leaving alone what others have changed since."""
        conflicts: list[str] = [entry.path for entry in batch.entries if entry.skipped]
        known = len(conflicts)
        touched: set[str] = set()
        patience = Patience()
        for deletes in (True, False):
            for entry in batch.entries:
                if (entry.after is None) is not deletes or entry.skipped:
                    continue
                self._clear(entry)
                if self._is_ours(entry, batch, entry.before, entry.after, conflicts, patience):
                    self._redone(folder, entry, touched, conflicts)
            if deletes:
                self._prepare_folders(batch, touched)
        self._sync(touched)
        if len(conflicts) > known:
            skipped = frozenset(conflicts)
            entries = tuple(replace(entry, skipped=entry.path in skipped) for entry in batch.entries)
            kept = replace(kept, details=replace(batch, entries=entries).to_json())
            write_manifest(folder / MANIFEST, kept)
        self._finish(folder, kept)
        return conflicts

    def _is_ours(
        self,
        entry: Entry,
        batch: Batch,
        left: Was | None,
        wanted: Was | None,
        conflicts: list[str],
        patience: Patience,
    ) -> bool:
        """Whether a file is still as it was left and has to change; one that others changed is noted."""

        def look() -> Was | None:
            return state_of(self._root, entry.path, folders=batch.folders, exact=entry.path in batch.twins)

        try:
            found = patience.with_links(look)
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise
            conflicts.append(entry.path)
            return False
        if found not in (left, wanted):
            conflicts.append(entry.path)
        return found == left != wanted

    def _redone(self, folder: Path, entry: Entry, touched: set[str], conflicts: list[str]) -> None:
        """Replace one file, unless something stands in its way."""
        try:
            if entry.after is None:
                self._delete(entry, touched, {})
            else:
                self._place(folder, entry, touched, {})
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
            conflicts.append(entry.path)

    def _clear(self, entry: Entry) -> None:
        try:
            with beside(self._root, entry.temp) as (at, name):
                remove(at, name)
        except OSError as error:
            if error.errno not in (*GONE, errno.ELOOP):
                raise

    def _name(self, error: BaseException) -> str:
        named = getattr(error, "filename2", None) or getattr(error, "filename", None)
        if not isinstance(named, (str, bytes)):
            return "the disk"
        return os.fsdecode(named).removeprefix(f"{self._root}/")


def _stamp_in(folder: int, name: str) -> Stamp | None:
    try:
        found = looked_at(folder, name)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _unchanged(entry: Entry, folder: int, name: str, stamps: Stamps) -> None:
    if entry.path in stamps and _stamp_in(folder, name) != stamps[entry.path]:
        raise FileChanged(f"{shown(entry.path)} was changed at the same moment")


def _overlapped(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Do it for all, several at once: what waits for the disk waits together."""
    if len(items) < 3:
        return [work(item) for item in items]
    # A share for each: to hand over every item by itself costs more than most items do.
    size = -(-len(items) // _THREADS)
    shares = [items[start : start + size] for start in range(0, len(items), size)]

    def share_of(share: Sequence[T]) -> list[R]:
        return [work(item) for item in share]

    with ThreadPoolExecutor(max_workers=len(shares), thread_name_prefix="journal") as threads:
        return [one for done in threads.map(share_of, shares) for one in done]


def _beside(path: str, name: str) -> str:
    folder = path.rpartition("/")[0]
    return f"{folder}/{name}" if folder else name
