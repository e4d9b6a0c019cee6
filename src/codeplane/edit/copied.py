"""Copies of files, durable and dressed like what they were copied from."""

import os
import shutil
from contextlib import suppress

_AT_ONCE = 1024 * 1024


def copy(source: int, target: int, *, mode: int) -> None:
    """Copy from one descriptor to the other, durably, and close both."""
    with os.fdopen(source, "rb", buffering=0) as reading, os.fdopen(target, "wb", buffering=0) as writing:
        shutil.copyfileobj(reading, writing, _AT_ONCE)
        dress(target, source)
        os.fchmod(target, mode)
        os.fsync(target)


def dress(descriptor: int, like: int) -> None:
    """Owner and attributes as another file has them, as far as the system lets us."""
    found, own = os.fstat(like), os.fstat(descriptor)
    with suppress(OSError):
        if (found.st_uid, found.st_gid) != (own.st_uid, own.st_gid):
            os.fchown(descriptor, found.st_uid, found.st_gid)
    with suppress(OSError):
        for name in os.listxattr(like):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(like, name))
