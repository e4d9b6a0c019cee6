"""Files on their way: new contents beside before-images in one folder, durable before anything is touched."""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from codeplane.kernel.errors import FileChanged
from codeplane.repo.edit.beneath import GONE, beside, is_there, linked_to, looked_at, opened
from codeplane.repo.edit.entry import Change, Entry, Was, digest, state_at, state_of
from codeplane.repo.truth.paths import shown

Step = Callable[[str], None]
Place = tuple[int, str]
_NEW_FILE, _NEW_PROGRAM = 0o666, 0o777
_EXECUTE = 0o111
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def staged(
    root: Path,
    folder: Path,
    change: Change,
    number: int,
    *,
    temp: str,
    dropped: Collection[str],
    ours: Path,
    unsynced: list[int],
    step: Step,
) -> Entry:
    """Stage one change: write what shall be, keep what was. `ours` is where files may be linked instead of copied.

    Descriptors of what is still to be made durable are left in `unsynced`, for the caller to sync and close.
    """
    with ExitStack() as stack:
        # Opened once for all that is done here: to find a folder costs more than most of it.
        place = _opened(stack, root, change.path)
        was = state_at(*place, is_dropped=change.path in dropped) if place is not None else None
        return _staged(
            root,
            folder,
            change,
            number,
            place,
            was,
            temp=temp,
            dropped=dropped,
            ours=ours,
            unsynced=unsynced,
            step=step,
        )


def _opened(stack: ExitStack, root: Path, path: str) -> Place | None:
    """The folder of a path and its name there, until the stack is unwound; None when there is no such folder."""
    try:
        return stack.enter_context(beside(root, path))
    except OSError as error:
        if error.errno not in GONE:
            raise
        return None


def _staged(
    root: Path,
    folder: Path,
    change: Change,
    number: int,
    place: Place | None,
    was: Was | None,
    *,
    temp: str,
    dropped: Collection[str],
    ours: Path,
    unsynced: list[int],
    step: Step,
) -> Entry:
    if (was.sha256 if was else None) != change.before:
        # A name that differs by case alone is looked at again, as the disk spells it, before anything is replaced.
        exactly = state_of(root, change.path, folders=dropped, exact=True)
        if (exactly.sha256 if exactly else None) != change.before:
            raise FileChanged(f"{shown(change.path)} is not as it was when the change was planned")
        was = exactly
    image = f"old.{number}" if was is not None else ""
    if was is not None:
        assert place is not None
        _keep(*place, f"{folder}/{image}", was)
        step(f"image {number}")
    if change.content is None:
        return Entry(path=change.path, before=was, after=None, staged="", image=image, temp=temp)
    new = f"new.{number}"
    after = _write(root, f"{folder}/{new}", change, place, was, ours, unsynced)
    step(f"new {number}")
    return Entry(
        path=change.path,
        before=was,
        after=after,
        staged=new,
        image=image,
        temp=temp,
        moved_from=change.moved_from,
    )


def put(source: str, folder: int, name: str, temp: str, *, link: bool, step: Step) -> None:
    """Let a staged file take its place in a folder in one step; across disks through a copy beside it."""
    staged_as = os.path.basename(source)  # noqa: PTH119
    try:
        step(f"put {staged_as}")
        os.replace(source, name, dst_dir_fd=folder)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    remove(folder, temp)
    if link:
        os.symlink(Path(source).readlink(), temp, dir_fd=folder)
    else:
        reading = os.open(source, _READ)
        _copy(reading, os.open(temp, _WRITE, 0o600, dir_fd=folder), mode=stat.S_IMODE(os.fstat(reading).st_mode))
    step(f"copied {staged_as}")
    os.replace(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    step(f"renamed {staged_as}")
    with suppress(FileNotFoundError):
        os.unlink(source)  # noqa: PTH108


def remove(folder: int, name: str) -> None:
    """Remove a file or link of a folder, unless it is gone already."""
    # Looked for first: a disk closed to writing refuses before it says that nothing is there.
    if is_there(folder, name):
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _keep(folder: int, name: str, image: str, was: Was) -> None:
    """The before-image: the very file where nobody else has a name for it, a copy otherwise."""
    if was.link:
        Path(image).symlink_to(linked_to(folder, name))
        return
    if looked_at(folder, name).st_nlink == 1:
        try:
            os.link(name, image, src_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                raise
        else:
            if not stat.S_ISREG(os.lstat(image).st_mode):
                raise OSError(errno.ELOOP, "a link took the place of the file", name)
            return
    _copy(opened(folder, name), os.open(image, _WRITE, 0o600), mode=was.mode)


def _write(
    root: Path, path: str, change: Change, place: Place | None, was: Was | None, ours: Path, unsynced: list[int]
) -> Was:
    content = change.content
    assert content is not None
    if isinstance(content, Path):
        with _source(root, content, ours) as (folder, name):
            return _taken(folder, name, path, change, was, may_link=ours in content.parents)
    if change.link:
        Path(path).symlink_to(os.fsdecode(content))
        return Was(sha256=digest(content), mode=0, link=True)
    descriptor = os.open(path, _WRITE, _NEW_PROGRAM if change.executable else _NEW_FILE)
    unsynced.append(descriptor)
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]
    if was is not None and not was.link:
        assert place is not None
        like = opened(*place)
        try:
            _dress(descriptor, like)
        finally:
            os.close(like)
    mode = _mode(change, was)
    if mode is not None:
        os.fchmod(descriptor, mode)
    return Was(sha256=digest(content), mode=stat.S_IMODE(os.fstat(descriptor).st_mode))


def _mode(change: Change, was: Was | None) -> int | None:
    mode = change.mode if change.mode is not None else was.mode if was is not None and not was.link else None
    if mode is not None and change.executable is not None:
        mode = mode | (mode & 0o444) >> 2 if change.executable else mode & ~_EXECUTE
    return mode


def _staged_as(path: str) -> Was:
    found = state_of(Path(path).parent, Path(path).name)
    assert found is not None
    return found


@contextmanager
def _source(root: Path, content: Path, ours: Path) -> Iterator[tuple[int, str]]:
    """Where a content is taken from: our own folders are nobody else's to swap, those of the work tree are."""
    above = root if root in content.parents and ours not in content.parents else content.parent
    with beside(above, content.relative_to(above).as_posix()) as found:
        yield found


def _taken(folder: int, name: str, path: str, change: Change, was: Was | None, *, may_link: bool) -> Was:
    """Stage the content of another file: the file itself when it is our own, a copy otherwise."""
    if change.link:
        target = linked_to(folder, name)
        Path(path).symlink_to(target)
        return Was(sha256=digest(os.fsencode(target)), mode=0, link=True)
    mode = _mode(change, was)
    own = stat.S_IMODE(looked_at(folder, name).st_mode)
    if may_link and mode in (None, own):
        with suppress(OSError):
            os.link(name, path, src_dir_fd=folder, follow_symlinks=False)
            # Whoever goes by the time of the last write has to see that something changed.
            os.utime(path)
            descriptor = os.open(path, _READ)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            return _staged_as(path)
    _copy(opened(folder, name), os.open(path, _WRITE, 0o600), mode=own if mode is None else mode)
    return _staged_as(path)


def _copy(source: int, target: int, *, mode: int) -> None:
    """Copy from one descriptor to the other, durably, and close both."""
    with os.fdopen(source, "rb", buffering=0) as reading, os.fdopen(target, "wb", buffering=0) as writing:
        shutil.copyfileobj(reading, writing, 1024 * 1024)
        _dress(target, source)
        os.fchmod(target, mode)
        os.fsync(target)


def _dress(descriptor: int, like: int) -> None:
    """Owner and attributes as another file has them, as far as the system lets us."""
    found, own = os.fstat(like), os.fstat(descriptor)
    with suppress(OSError):
        if (found.st_uid, found.st_gid) != (own.st_uid, own.st_gid):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    with suppress(OSError):
        for name in os.listxattr(like):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(like, name))
