"""The work tree while a batch takes its place in it: files come and go one by one, each in one step."""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from codeplane.edit.beneath import GONE, HELD, Folders, is_there, looked_at
from codeplane.edit.copied import copy
from codeplane.edit.durable import Syncs
from codeplane.edit.entry import Batch, Entry, Was, is_spelled, state_at, was_of
from codeplane.edit.staging import Step
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import FileChanged

Stamp = tuple[int, int, int, int]
Stamps = dict[str, Stamp | None]
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkTree:
    """A work tree for one piece of work, which finds each folder once and in the end makes durable what it touched."""

    def __init__(self, root: Path, *, syncs: Syncs, step: Step) -> None:
        self._root = root
        self._syncs = syncs
        self._step = step
        self._folders = Folders(root)
        self._touched: set[str] = set()

    def __enter__(self) -> "WorkTree":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folders.__exit__(kind, error, trace)

    def missing(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The folders of these paths that have to be made, outer ones first."""
        folders: set[str] = set()
        for path in paths:
            above = path.rpartition("/")[0]
            while above and above not in folders and not self._is_folder(above):
                folders.add(above)
                above = above.rpartition("/")[0]
        return tuple(sorted(folders))

    def _is_folder(self, path: str) -> bool:
        try:
            self._folders.at(path)
        except OSError as error:
            if error.errno not in GONE:
                raise
            return False
        return True

    def state_of(self, entry: Entry, batch: Batch) -> Was | None:
        """What is at the place of a file now, as the disk spells it where that matters."""
        return self.stamped(entry, batch)[1]

    def stamped(self, entry: Entry, batch: Batch) -> tuple[Stamp | None, Was | None]:
        """The same with a stamp that was taken first: what is written after it is seen by it."""
        try:
            if entry.path in batch.twins and not is_spelled(self._root, entry.path):
                return None, None
            with self._folders.beside(entry.path) as (at, name):
                found = looked_at(at, name)
                if stat.S_ISDIR(found.st_mode):
                    return None, state_at(at, name, is_dropped=entry.path in batch.folders)
                return _stamp(found), was_of(found, at, name)
        except OSError as error:
            if error.errno not in GONE:
                raise
            return None, None

    def delete(self, entry: Entry, stamps: Stamps | None = None) -> None:
        """Remove a file, unless it is gone already."""
        with self._folders.beside(entry.path) as (at, name):
            _unchanged(entry, at, name, stamps)
            self._step(f"delete {entry.image}")
            _remove(at, name)
        self._touch(entry.path)

    def place(self, folder: Path, entry: Entry, stamps: Stamps | None = None) -> None:
        """Let a file that was staged in a folder take its place."""
        assert entry.after is not None
        with self._folders.beside(entry.path) as (at, name):
            _unchanged(entry, at, name, stamps)
            self._put(f"{folder}/{entry.staged}", at, name, entry, link=entry.after.link)
        self._touch(entry.path)

    def put_back(self, folder: Path, entry: Entry) -> None:
        """Let what was before take its place again."""
        if entry.before is None:
            self.delete(entry)
            return
        with self._folders.beside(entry.path, make=True) as (at, name):
            self._put(f"{folder}/{entry.image}", at, name, entry, link=entry.before.link)
        self._touch(entry.path)

    def clear(self, entry: Entry) -> None:
        """Remove the copy beside a file that a kill may have left."""
        try:
            with self._folders.beside(entry.temp) as (at, name):
                _remove(at, name)
        except OSError as error:
            if error.errno not in (*GONE, errno.ELOOP):
                raise

    def prepare_folders(self, batch: Batch) -> None:
        """Drop the folders that shall go, and make those that shall come."""
        for path in sorted(batch.dropped, reverse=True):
            self._step("drop folder")
            self.drop_folder(path)
        for path in batch.made:
            self._step("make folder")
            try:
                self._folders.at(path, make=True)
            except OSError as error:
                # Whatever stands there is met again when the file shall take its place.
                if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                    raise
            self._touch(path)

    def drop_folder(self, path: str) -> None:
        """Remove a folder if it is empty."""
        with suppress(OSError), self._folders.beside(path) as (at, name):
            os.rmdir(name, dir_fd=at)
            self._folders.forget(path)
            self._touched.discard(path)
            self._touch(path)

    def durable(self) -> None:
        """Return when everything that was done is durable."""
        self._step("replaced")
        touched = sorted(self._touched)
        for start in range(0, len(touched), HELD):
            self._syncs.of([at for path in touched[start : start + HELD] if (at := self._still(path)) is not None])
        self._step("durable")

    def _still(self, folder: str) -> int | None:
        try:
            return self._folders.at(folder)
        except OSError as error:
            # A folder that went away meanwhile has nothing left to keep.
            if error.errno not in (*GONE, errno.ELOOP):
                raise
            return None

    def _touch(self, path: str) -> None:
        self._touched.add(path.rpartition("/")[0])

    def _put(self, source: str, folder: int, name: str, entry: Entry, *, link: bool) -> None:
        """Take its place in one step; across disks through a copy beside it."""
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
            reading = os.open(source, _READ)
            copy(reading, os.open(temp, _WRITE, 0o600, dir_fd=folder), mode=stat.S_IMODE(os.fstat(reading).st_mode))
        self._step(f"copied {staged_as}")
        os.replace(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        self._step(f"renamed {staged_as}")
        Path(source).unlink(missing_ok=True)


def _remove(folder: int, name: str) -> None:
    # Looked for first: a disk closed to writing refuses before it says that nothing is there.
    if is_there(folder, name):
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def _unchanged(entry: Entry, folder: int, name: str, stamps: Stamps | None) -> None:
    if stamps is None or entry.path not in stamps:
        return
    try:
        found = looked_at(folder, name)
        stamp = None if stat.S_ISDIR(found.st_mode) else _stamp(found)
    except FileNotFoundError:
        stamp = None
    if stamp != stamps[entry.path]:
        raise FileChanged(f"{shown(entry.path)} was changed at the same moment")
