"""Atomic replacement of small files, and storage errors."""

import errno
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from codeplane.kernel.errors import CodePlaneError, StorageFailed, StorageFull, StorageReadOnly

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_IN_THE_WAY = frozenset({errno.EEXIST, errno.ENOTDIR, errno.EISDIR})


def storage_error(error: OSError, path: Path) -> CodePlaneError:
    """Return our error for an OSError while writing a file."""
    message = f"{_place(error, path)} cannot be written: {error.strerror or error}"
    if error.errno in _FULL:
        return StorageFull(message)
    if error.errno in _REFUSED:
        return StorageReadOnly(message)
    if error.errno in _IN_THE_WAY:
        return StorageFailed(message, hint=f"move away what is at {_place(error, path)}, then: cpl up")
    return StorageFailed(message)


def _place(error: OSError, path: Path) -> object:
    # Of a rename it is the target that matters.
    return error.filename2 or error.filename or path


def replace_file(path: Path, text: str) -> None:
    """Replace a small file atomically."""
    # Several processes that start at once write the same files.
    partial = path.with_name(f"{path.name}.{token_hex(4)}.part")
    try:
        partial.write_text(text)
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise storage_error(error, path) from error


def write_private(path: Path, data: bytes) -> None:
    """Replace a file that only this account may read."""
    partial = path.with_name(f"{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise storage_error(error, path) from error
