"""Files on their way: new contents beside before-images in one folder, durable before anything is touched."""

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from codeplane.edit.beneath import GONE, Folders, beside, linked_to, looked_at, opened, whole
from codeplane.edit.copied import copy, dress
from codeplane.edit.durable import Syncs, begun
from codeplane.edit.entry import Change, Entry, Was, digest, state_at, state_in, state_of
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import FileChanged

Step = Callable[[str], None]
Place = tuple[int, str]
PLAN = "manifest"
_NEW_FILE, _NEW_PROGRAM = 0o666, 0o777
_EXECUTE = 0o111
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Files open at once, while their contents become durable together.
_AT_ONCE = 100


class Staging:
    """Stages the changes of one batch in its folder; `ours` is where files may be linked instead of copied."""

    def __init__(
        self, root: Path, folder: Path, *, ours: Path, dropped: Collection[str], syncs: Syncs, step: Step
    ) -> None:
        self._root = root
        self._ours = ours
        self._dropped = dropped
        self._syncs = syncs
        self._step = step
        self._folders = Folders(root)
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
        """Stage one change: write what shall be, keep what was."""
        if len(self._unsynced) >= _AT_ONCE:
            self._syncs.of(self._unsynced)
            self._close()
        above, _, name = change.path.rpartition("/")
        at = self._opened(above)
        try:
            place = (at, name) if at is not None else None
            was = state_at(at, name, is_dropped=change.path in self._dropped) if at is not None else None
            return self._staged(change, number, place, was)
        except OSError as error:
            whole(error, change.path, name)
            raise

    def plan(self, manifest: bytes, *, also: Path | None = None) -> None:
        """Write down what shall be done, and return when that and all that was staged is durable, and a folder also."""
        descriptor = os.open(PLAN, _WRITE, 0o600, dir_fd=self._into)
        self._unsynced.append(descriptor)
        _fill(descriptor, manifest)
        self._step("plan written")
        if also is not None:
            with suppress(FileNotFoundError):
                self._unsynced.append(os.open(also, _FOLDER))
        self._syncs.of([self._into, *self._unsynced])
        self._close()
        self._step("plan durable")

    def _opened(self, folder: str) -> int | None:
        try:
            return self._folders.at(folder)
        except OSError as error:
            if error.errno not in GONE:
                raise
            return None

    def _close(self) -> None:
        while self._unsynced:
            os.close(self._unsynced.pop())

    def _staged(self, change: Change, number: int, place: Place | None, was: Was | None) -> Entry:
        if (was.sha256 if was else None) != change.before:
            # A name that differs by case alone is looked at again, as the disk spells it, before anything is replaced.
            exactly = state_of(self._root, change.path, folders=self._dropped, exact=True)
            if (exactly.sha256 if exactly else None) != change.before:
                raise FileChanged(f"{shown(change.path)} is not as it was when the change was planned")
            was = exactly
        image = f"old.{number}" if was is not None else ""
        if was is not None:
            assert place is not None
            self._keep(*place, image, was)
            self._step(f"image {number}")
        new, after = "", None
        if change.content is not None:
            new = f"new.{number}"
            after = self._write(new, change, place, was)
            self._step(f"new {number}")
        return Entry(
            path=change.path,
            before=was,
            after=after,
            staged=new,
            image=image,
            temp=_beside(change.path, f".cpl-{self._name}-{number}.tmp"),
            moved_from=change.moved_from if after is not None else None,
        )

    def _keep(self, folder: int, name: str, image: str, was: Was) -> None:
        """The before-image: the very file where nobody else has a name for it, a copy otherwise."""
        if was.link:
            os.symlink(linked_to(folder, name), image, dir_fd=self._into)
            return
        if looked_at(folder, name).st_nlink == 1:
            try:
                os.link(name, image, src_dir_fd=folder, dst_dir_fd=self._into, follow_symlinks=False)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                    raise
            else:
                if not stat.S_ISREG(looked_at(self._into, image).st_mode):
                    raise OSError(errno.ELOOP, "a link took the place of the file", name)
                return
        copy(opened(folder, name), os.open(image, _WRITE, 0o600, dir_fd=self._into), mode=was.mode)

    def _write(self, new: str, change: Change, place: Place | None, was: Was | None) -> Was:
        content = change.content
        assert content is not None
        if isinstance(content, Path):
            with self._source(content) as (folder, name):
                return self._taken(folder, name, new, change, was, may_link=self._ours in content.parents)
        if change.link:
            os.symlink(os.fsdecode(content), new, dir_fd=self._into)
            return Was(sha256=digest(content), mode=0, link=True)
        descriptor = os.open(new, _WRITE, _NEW_PROGRAM if change.executable else _NEW_FILE, dir_fd=self._into)
        self._unsynced.append(descriptor)
        _fill(descriptor, content)
        if was is not None and not was.link:
            assert place is not None
            like = opened(*place)
            try:
                dress(descriptor, like)
            finally:
                os.close(like)
        mode = _mode(change, was)
        if mode is not None:
            os.fchmod(descriptor, mode)
        begun(descriptor)
        return Was(sha256=digest(content), mode=stat.S_IMODE(os.fstat(descriptor).st_mode))

    @contextmanager
    def _source(self, content: Path) -> Iterator[Place]:
        """Where a content is taken from: our own folders are nobody else's to swap, those of the work tree are."""
        if self._root in content.parents and self._ours not in content.parents:
            with self._folders.beside(content.relative_to(self._root).as_posix()) as found:
                yield found
        else:
            with beside(content.parent, content.name) as found:
                yield found

    def _taken(self, folder: int, name: str, new: str, change: Change, was: Was | None, *, may_link: bool) -> Was:
        """Stage the content of another file: the file itself when it is our own, a copy otherwise."""
        if change.link:
            target = linked_to(folder, name)
            os.symlink(target, new, dir_fd=self._into)
            return Was(sha256=digest(os.fsencode(target)), mode=0, link=True)
        mode = _mode(change, was)
        own = stat.S_IMODE(looked_at(folder, name).st_mode)
        if may_link and mode in (None, own):
            try:
                os.link(name, new, src_dir_fd=folder, dst_dir_fd=self._into, follow_symlinks=False)
                # Whoever goes by the time of the last write has to see that something changed.
                os.utime(new, dir_fd=self._into, follow_symlinks=False)
                self._unsynced.append(os.open(new, _READ, dir_fd=self._into))
                return state_in(self._into, new)
            except OSError:
                with suppress(FileNotFoundError):
                    os.unlink(new, dir_fd=self._into)
        copy(
            opened(folder, name),
            os.open(new, _WRITE, 0o600, dir_fd=self._into),
            mode=own if mode is None else mode,
        )
        return state_in(self._into, new)


def _fill(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _mode(change: Change, was: Was | None) -> int | None:
    mode = change.mode if change.mode is not None else was.mode if was is not None and not was.link else None
    if mode is not None and change.executable is not None:
        mode = mode | (mode & 0o444) >> 2 if change.executable else mode & ~_EXECUTE
    return mode


def _beside(path: str, name: str) -> str:
    folder = path.rpartition("/")[0]
    return f"{folder}/{name}" if folder else name
