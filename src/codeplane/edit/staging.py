"""Stages the old and new contents of a batch in one folder, durably, before any file is replaced."""

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from codeplane.edit.batch import Change, Entry
from codeplane.edit.file_copy import copy_attributes, copy_file
from codeplane.edit.file_state import FileState, sha256_of, state_at, state_in, state_of
from codeplane.edit.folder_descriptors import (
    MISSING,
    FolderDescriptors,
    name_whole_path,
    open_file,
    open_parent,
    read_link,
    stat_entry,
)
from codeplane.edit.fsync import Fsync, Transaction, start_writeback
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import FileChanged

Step = Callable[[str], None]
Place = tuple[int, str]
PLAN = "manifest"
_NEW_FILE, _NEW_PROGRAM = 0o666, 0o777
_EXECUTE = 0o111
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# How many files stay open to be synced together.
_AT_ONCE = 100


class Staging:
    """Stage the changes of one batch in its folder; files below `ours` may be linked instead of copied."""

    def __init__(
        self, root: Path, folder: Path, *, ours: Path, dropped: Collection[str], syncs: Fsync, step: Step
    ) -> None:
        self._root = root
        self._ours = ours
        self._dropped = dropped
        self._syncs = syncs
        self._step = step
        self._folders = FolderDescriptors(root, syncs=True)
        self._unsynced: list[int] = []
        self._name = folder.name
        self._into = os.open(folder, _FOLDER)

    def __enter__(self) -> "Staging":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folders.__exit__(kind, error, trace)
        self._close()
        os.close(self._into)

    def add(self, change: Change, number: int) -> Entry:
        """Stage one change: write the new content and keep the old one."""
        if len(self._unsynced) >= _AT_ONCE:
            self._syncs.sync(self._unsynced)
            self._close()
        above, _, name = change.path.rpartition("/")
        folder = self._open_existing(above)
        try:
            place = (folder, name) if folder is not None else None
            state = state_at(folder, name, is_dropped=change.path in self._dropped) if folder is not None else None
            return self._stage(change, number, place, state)
        except OSError as error:
            name_whole_path(error, change.path, name)
            raise

    def plan(self, manifest: bytes, *, also: Path | None = None) -> Transaction[None]:
        """Write the manifest as a plan, and sync it with everything staged and the folder `also`."""
        descriptor = os.open(PLAN, _WRITE, 0o600, dir_fd=self._into)
        self._unsynced.append(descriptor)
        _fill(descriptor, manifest)
        self._step("plan written")
        if also is not None:
            with suppress(FileNotFoundError):
                self._unsynced.append(os.open(also, _FOLDER))
        yield [self._into, *self._unsynced]
        self._close()
        self._step("plan durable")

    def _open_existing(self, folder: str) -> int | None:
        try:
            return self._folders.open(folder)
        except OSError as error:
            if error.errno not in MISSING:
                raise
            return None

    def _close(self) -> None:
        while self._unsynced:
            os.close(self._unsynced.pop())

    def _stage(self, change: Change, number: int, place: Place | None, before: FileState | None) -> Entry:
        if (before.sha256 if before else None) != change.before:
            # The disk may have found a name that differs only by case, so the exact spelling is checked.
            exact = state_of(self._root, change.path, folders=self._dropped, exact=True)
            if (exact.sha256 if exact else None) != change.before:
                raise FileChanged(f"{path_text(change.path)} is not as it was when the change was planned")
            before = exact
        image = f"old.{number}" if before is not None else ""
        if before is not None:
            assert place is not None
            self._keep_image(*place, image, before)
            self._step(f"image {number}")
        new, after = "", None
        if change.content is not None:
            new = f"new.{number}"
            after = self._write_new(new, change, place, before)
            self._step(f"new {number}")
        return Entry(
            path=change.path,
            before=before,
            after=after,
            staged=new,
            image=image,
            temp=_sibling(change.path, f".cpl-{self._name}-{number}.tmp"),
            moved_from=change.moved_from if after is not None else None,
        )

    def _keep_image(self, folder: int, name: str, image: str, state: FileState) -> None:
        """Keep the old file: a hard link when it has no other name, else a copy."""
        if state.link:
            os.symlink(read_link(folder, name), image, dir_fd=self._into)
            return
        if stat_entry(folder, name).st_nlink == 1:
            try:
                os.link(name, image, src_dir_fd=folder, dst_dir_fd=self._into, follow_symlinks=False)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                    raise
            else:
                if not stat.S_ISREG(stat_entry(self._into, image).st_mode):
                    raise OSError(errno.ELOOP, "a link took the place of the file", name)
                return
        copy_file(open_file(folder, name), os.open(image, _WRITE, 0o600, dir_fd=self._into), mode=state.mode)

    def _write_new(self, new: str, change: Change, place: Place | None, before: FileState | None) -> FileState:
        content = change.content
        assert content is not None
        if isinstance(content, Path):
            with self._source(content) as (folder, name):
                return self._copy_new(folder, name, new, change, before, may_link=self._ours in content.parents)
        if change.link:
            os.symlink(os.fsdecode(content), new, dir_fd=self._into)
            return FileState(sha256=sha256_of(content), mode=0, link=True)
        descriptor = os.open(new, _WRITE, _NEW_PROGRAM if change.executable else _NEW_FILE, dir_fd=self._into)
        self._unsynced.append(descriptor)
        _fill(descriptor, content)
        if before is not None and not before.link:
            assert place is not None
            like = open_file(*place)
            try:
                copy_attributes(descriptor, like)
            finally:
                os.close(like)
        mode = _new_mode(change, before)
        if mode is not None:
            os.fchmod(descriptor, mode)
        start_writeback(descriptor)
        return FileState(sha256=sha256_of(content), mode=stat.S_IMODE(os.fstat(descriptor).st_mode))

    @contextmanager
    def _source(self, content: Path) -> Iterator[Place]:
        """Open the place of a content; only folders of the work tree, not our own, may be swapped by others."""
        if self._root in content.parents and self._ours not in content.parents:
            with self._folders.open_parent(content.relative_to(self._root).as_posix()) as place:
                yield place
        else:
            with open_parent(content.parent, content.name) as place:
                yield place

    def _copy_new(
        self, folder: int, name: str, new: str, change: Change, before: FileState | None, *, may_link: bool
    ) -> FileState:
        """Stage the content of another file: a hard link when it is our own, else a copy."""
        if change.link:
            target = read_link(folder, name)
            os.symlink(target, new, dir_fd=self._into)
            return FileState(sha256=sha256_of(os.fsencode(target)), mode=0, link=True)
        mode = _new_mode(change, before)
        own = stat.S_IMODE(stat_entry(folder, name).st_mode)
        if may_link and mode in (None, own):
            try:
                os.link(name, new, src_dir_fd=folder, dst_dir_fd=self._into, follow_symlinks=False)
                # Tools that compare modification times must see a change.
                os.utime(new, dir_fd=self._into, follow_symlinks=False)
                self._unsynced.append(os.open(new, _READ, dir_fd=self._into))
                return state_in(self._into, new)
            except OSError:
                with suppress(FileNotFoundError):
                    os.unlink(new, dir_fd=self._into)
        copy_file(
            open_file(folder, name),
            os.open(new, _WRITE, 0o600, dir_fd=self._into),
            mode=own if mode is None else mode,
        )
        return state_in(self._into, new)


def _fill(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _new_mode(change: Change, before: FileState | None) -> int | None:
    mode = change.mode
    if mode is None and before is not None and not before.link:
        mode = before.mode
    if mode is not None and change.executable is not None:
        mode = mode | (mode & 0o444) >> 2 if change.executable else mode & ~_EXECUTE
    return mode


def _sibling(path: str, name: str) -> str:
    folder = path.rpartition("/")[0]
    return f"{folder}/{name}" if folder else name
