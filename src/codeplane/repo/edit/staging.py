"""Files on their way: new contents beside before-images in one folder, durable before anything is touched."""

import errno
import os
import shutil
import stat
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from codeplane.kernel.errors import FileChanged
from codeplane.repo.edit.entry import Change, Entry, Was, digest, state_of
from codeplane.repo.truth.paths import shown

Step = Callable[[str], None]
_NEW_FILE, _NEW_PROGRAM = 0o666, 0o777
_EXECUTE = 0o111
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def staged(
    root: Path,
    folder: Path,
    change: Change,
    number: int,
    *,
    temp: str,
    dropped: Collection[str],
    ours: Path,
    step: Step,
) -> Entry:
    """Stage one change: write what shall be, keep what was. `ours` is where files may be linked instead of copied."""
    was = state_of(root, change.path, folders=dropped)
    if (was.sha256 if was else None) != change.before:
        # A name that differs by case alone is looked at again, as the disk spells it, before anything is replaced.
        exactly = state_of(root, change.path, folders=dropped, exact=True)
        if (exactly.sha256 if exactly else None) != change.before:
            raise FileChanged(f"{shown(change.path)} is not as it was when the change was planned")
        was = exactly
    image = f"old.{number}" if was is not None else ""
    if was is not None:
        _keep(f"{root}/{change.path}", f"{folder}/{image}", was)
        step(f"image {number}")
    if change.content is None:
        return Entry(path=change.path, before=was, after=None, staged="", image=image, temp=temp)
    name = f"new.{number}"
    after = _write(root, f"{folder}/{name}", change, was, ours)
    step(f"new {number}")
    return Entry(
        path=change.path,
        before=was,
        after=after,
        staged=name,
        image=image,
        temp=temp,
        moved_from=change.moved_from,
    )


def put(source: str, target: str, temp: str, *, link: bool, step: Step) -> None:
    """Let a staged file take its place in one step; across disks through a copy beside it."""
    try:
        step(f"put {os.path.basename(source)}")  # noqa: PTH119
        os.replace(source, target)  # noqa: PTH105
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    remove(temp)
    if link:
        Path(temp).symlink_to(Path(source).readlink())
    else:
        _copy(source, temp, mode=stat.S_IMODE(os.lstat(source).st_mode))
    step(f"copied {os.path.basename(source)}")  # noqa: PTH119
    os.replace(temp, target)  # noqa: PTH105
    step(f"renamed {os.path.basename(source)}")  # noqa: PTH119
    remove(source)


def remove(path: str) -> None:
    """Remove a file or link, unless it is gone already."""
    # Looked for first: a disk closed to writing refuses before it says that nothing is there.
    if os.path.lexists(path):
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108


def _keep(target: str, image: str, was: Was) -> None:
    """The before-image: the very file where nobody else has a name for it, a copy otherwise."""
    if was.link:
        Path(image).symlink_to(Path(target).readlink())
        return
    if os.lstat(target).st_nlink == 1:
        try:
            os.link(target, image, follow_symlinks=False)
            return
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EOPNOTSUPP):
                raise
    _copy(target, image, mode=was.mode)


def _write(root: Path, path: str, change: Change, was: Was | None, ours: Path) -> Was:
    content = change.content
    assert content is not None
    if change.link:
        target = content if isinstance(content, bytes) else os.fsencode(content.readlink())
        Path(path).symlink_to(os.fsdecode(target))
        return Was(sha256=digest(target), mode=0, link=True)
    mode = change.mode if change.mode is not None else was.mode if was is not None and not was.link else None
    if mode is not None and change.executable is not None:
        mode = mode | (mode & 0o444) >> 2 if change.executable else mode & ~_EXECUTE
    if isinstance(content, Path):
        _take(content, path, mode=mode, may_link=ours in content.parents)
    else:
        descriptor = os.open(path, _WRITE, _NEW_PROGRAM if change.executable else _NEW_FILE)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(descriptor, view) :]
            if was is not None and not was.link:
                _dress(descriptor, f"{root}/{change.path}")
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    found = state_of(Path(path).parent, Path(path).name)
    assert found is not None
    return found


def _take(source: Path, path: str, *, mode: int | None, may_link: bool) -> None:
    """Stage the content of another file: the file itself when it is our own, a copy otherwise."""
    own = stat.S_IMODE(source.lstat().st_mode)
    if may_link and mode in (None, own):
        with suppress(OSError):
            os.link(source, path)
            # Whoever goes by the time of the last write has to see that something changed.
            os.utime(path)
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            return
    _copy(str(source), path, mode=own if mode is None else mode)


def _copy(source: str, path: str, *, mode: int) -> None:
    with open(source, "rb", buffering=0) as reading:  # noqa: PTH123
        descriptor = os.open(path, _WRITE, 0o600)
        with os.fdopen(descriptor, "wb", buffering=0) as writing:
            shutil.copyfileobj(reading, writing, 1024 * 1024)
            _dress(writing.fileno(), source)
            os.fchmod(writing.fileno(), mode)
            os.fsync(writing.fileno())


def _dress(descriptor: int, like: str) -> None:
    """Owner and attributes as another file has them, as far as the system lets us."""
    found, own = os.lstat(like), os.fstat(descriptor)
    with suppress(OSError):
        if (found.st_uid, found.st_gid) != (own.st_uid, own.st_gid):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    with suppress(OSError):
        for name in os.listxattr(like, follow_symlinks=False):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(like, name, follow_symlinks=False))
