"""Reads files of a work tree that others may swap for links, or whose folders they may, at any moment."""

import errno
import os
import shutil
import stat
from pathlib import Path

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_below(root: Path | str, path: str) -> int:
    """Open a file below a root for reading; OSError with ELOOP when a link leads there."""
    place = f"{os.path.realpath(root)}/{path}"
    descriptor = os.open(place, _READ)
    try:
        if _place_of(descriptor, place) != place:
            raise OSError(errno.ELOOP, "a link leads there", path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_below(root: Path | str, path: str) -> bytes:
    """Read a file below a root; OSError with ELOOP when a link leads there."""
    with os.fdopen(open_below(root, path), "rb") as file:
        return file.read()


def copy_below(root: Path | str, path: str, target: Path) -> None:
    """Copy a file below a root with its mode and times; OSError with ELOOP when a link leads there."""
    with os.fdopen(open_below(root, path), "rb") as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
        status = os.fstat(source.fileno())
        os.fchmod(copy.fileno(), stat.S_IMODE(status.st_mode))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def _place_of(descriptor: int, place: str) -> str:
    """Where an open file lies."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115  # text of any bytes
    except OSError:
        # Where the system does not tell, what is there now has to do.
        return os.path.realpath(place)
