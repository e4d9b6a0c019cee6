"""Replaces and deletes the files of a batch in the work tree, each in one step."""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from codeplane.edit.batch import Batch, Entry
from codeplane.edit.file_copy import copy_file
from codeplane.edit.file_state import FileState, has_exact_case, state_at, state_from_stat
from codeplane.edit.folder_descriptors import MAX_OPEN, MISSING, FolderDescriptors, entry_exists, stat_entry
from codeplane.edit.fsync import Transaction
from codeplane.edit.staging import Step
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import FileChanged

Stamp = tuple[int, int, int, int]
Stamps = dict[str, Stamp | None]
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkTree:
    """Access to a work tree for one batch: opens each folder once and syncs what it touched in the end."""

    def __init__(self, root: Path, *, step: Step, changes: bool = True) -> None:
        """`changes` is false for access that only looks at files."""
        self._root = root
        self._step = step
        self._folders = FolderDescriptors(root, syncs=changes)
        self._touched: set[str] = set()

    def __enter__(self) -> "WorkTree":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folders.__exit__(kind, error, trace)

    def missing_folders(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the missing folders of these paths, outer ones first."""
        folders: set[str] = set()
        for path in paths:
            above = path.rpartition("/")[0]
            while above and above not in folders and not self._is_folder(above):
                folders.add(above)
                above = above.rpartition("/")[0]
        return tuple(sorted(folders))

    def _is_folder(self, path: str) -> bool:
        try:
            self._folders.open(path)
        except OSError as error:
            if error.errno not in MISSING:
                raise
            return False
        return True

    def state_of(self, entry: Entry, batch: Batch) -> FileState | None:
        """Return the present state of an entry's path."""
        return self.stamp_and_state(entry, batch)[1]

    def stamp_and_state(self, entry: Entry, batch: Batch) -> tuple[Stamp | None, FileState | None]:
        """Return a stamp of an entry's path and its state; a later write changes the stamp."""
        try:
            if entry.path in batch.twins and not has_exact_case(self._root, entry.path):
                return None, None
            with self._folders.open_parent(entry.path) as (folder, name):
                status = stat_entry(folder, name)
                if stat.S_ISDIR(status.st_mode):
                    return None, state_at(folder, name, is_dropped=entry.path in batch.folders)
                return _stamp(status), state_from_stat(status, folder, name)
        except OSError as error:
            if error.errno not in MISSING:
                raise
            return None, None

    def delete(self, entry: Entry, stamps: Stamps | None = None) -> None:
        """Remove a file unless it is already gone."""
        with self._folders.open_parent(entry.path) as (at, name):
            _check_unchanged(entry, at, name, stamps)
            self._step(f"delete {entry.image}")
            _remove(at, name)
        self._touch(entry.path)

    def place(self, folder: Path, entry: Entry, stamps: Stamps | None = None) -> None:
        """Move a staged file into its place."""
        assert entry.after is not None
        with self._folders.open_parent(entry.path) as (at, name):
            _check_unchanged(entry, at, name, stamps)
            self._put(f"{folder}/{entry.staged}", at, name, entry, link=entry.after.link)
        self._touch(entry.path)

    def put_back(self, folder: Path, entry: Entry) -> None:
        """Move the old file back into its place."""
        if entry.before is None:
            self.delete(entry)
            return
        with self._folders.open_parent(entry.path, make=True) as (at, name):
            self._put(f"{folder}/{entry.image}", at, name, entry, link=entry.before.link)
        self._touch(entry.path)

    def remove_temp(self, entry: Entry) -> None:
        """Remove the temporary copy that a killed run may have left."""
        try:
            with self._folders.open_parent(entry.temp) as (at, name):
                _remove(at, name)
        except OSError as error:
            if error.errno not in (*MISSING, errno.ELOOP):
                raise

    def prepare_folders(self, batch: Batch) -> None:
        """Remove the dropped folders and create the new ones."""
        for path in sorted(batch.dropped, reverse=True):
            self._step("drop folder")
            self.drop_folder(path)
        for path in batch.made:
            self._step("make folder")
            try:
                self._folders.open(path, make=True)
            except OSError as error:
                # Whatever is in the way fails again when the file is placed.
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
            self._touch(path)

    def drop_folder(self, path: str) -> None:
        """Remove a folder if it is empty."""
        with suppress(OSError), self._folders.open_parent(path) as (at, name):
            os.rmdir(name, dir_fd=at)
            self._folders.forget(path)
            self._touched.discard(path)
            self._touch(path)

    def sync(self) -> Transaction[None]:
        """Sync every touched folder."""
        self._step("replaced")
        touched = sorted(self._touched)
        for start in range(0, len(touched), MAX_OPEN):
            yield [at for path in touched[start : start + MAX_OPEN] if (at := self._open_existing(path)) is not None]
        self._step("durable")

    def _open_existing(self, folder: str) -> int | None:
        try:
            return self._folders.open(folder)
        except OSError as error:
            # A folder that was removed meanwhile needs no sync.
            if error.errno not in (*MISSING, errno.ELOOP):
                raise
            return None

    def _touch(self, path: str) -> None:
        self._touched.add(path.rpartition("/")[0])

    def _put(self, source: str, folder: int, name: str, entry: Entry, *, link: bool) -> None:
        """Rename a file into its place; across disks, rename a copy next to it."""
        staged_as = source.rpartition("/")[2]
        try:
            self._step(f"put {staged_as}")
            os.replace(source, name, dst_dir_fd=folder)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
        temp = entry.temp.rpartition("/")[2]
        _remove(folder, temp)
        if link:
            os.symlink(Path(source).readlink(), temp, dir_fd=folder)
        else:
            descriptor = os.open(source, _READ)
            copy_file(
                descriptor, os.open(temp, _WRITE, 0o600, dir_fd=folder), mode=stat.S_IMODE(os.fstat(descriptor).st_mode)
            )
        self._step(f"copied {staged_as}")
        os.replace(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        self._step(f"renamed {staged_as}")
        Path(source).unlink(missing_ok=True)


def _remove(folder: int, name: str) -> None:
    # Checked first: a read-only disk refuses to unlink even what does not exist.
    if entry_exists(folder, name):
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode


def _check_unchanged(entry: Entry, folder: int, name: str, stamps: Stamps | None) -> None:
    if stamps is None or entry.path not in stamps:
        return
    try:
        status = stat_entry(folder, name)
        stamp = None if stat.S_ISDIR(status.st_mode) else _stamp(status)
    except FileNotFoundError:
        stamp = None
    if stamp != stamps[entry.path]:
        raise FileChanged(f"{path_text(entry.path)} was changed at the same moment")
