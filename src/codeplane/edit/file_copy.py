"""Durable copies of files, with their owner and attributes."""

import os
import shutil
from contextlib import suppress

_AT_ONCE = 1024 * 1024


def copy_file(source: int, target: int, *, mode: int) -> None:
    """Copy from one descriptor to the other, durably, and close both."""
    with os.fdopen(source, "rb", buffering=0) as source_file, os.fdopen(target, "wb", buffering=0) as target_file:
        shutil.copyfileobj(source_file, target_file, _AT_ONCE)
        copy_attributes(target, source)
        os.fchmod(target, mode)
        os.fsync(target)


def copy_attributes(descriptor: int, like: int) -> None:
    """Copy the owner and extended attributes of another file, as far as the system allows."""
    wanted, present = os.fstat(like), os.fstat(descriptor)
    with suppress(OSError):
        if (wanted.st_uid, wanted.st_gid) != (present.st_uid, present.st_gid):
            os.fchown(descriptor, wanted.st_uid, wanted.st_gid)
    with suppress(OSError):
        for name in os.listxattr(like):
            with suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(like, name))
