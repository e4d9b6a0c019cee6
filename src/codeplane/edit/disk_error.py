"""Turns errors of the disk into our errors."""

import errno

from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CodePlaneError, FileChanged, PathDenied, StorageFailed, StorageFull, StorageReadOnly

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_NOT_A_FILE = frozenset({errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL})


def disk_error(error: OSError, path: str, *, after: str = "nothing was changed") -> CodePlaneError:
    """Return our error for an OSError at a path; `after` says what became of the batch."""
    message = f"{path_text(path)}: {error.strerror or error}; {after}"
    if error.errno in _FULL:
        return StorageFull(message, hint=f"free space on the disk, then call again; {after}")
    if error.errno in _REFUSED:
        return StorageReadOnly(message, hint="make it writable for the user CodePlane runs as, then call again")
    if error.errno == errno.ELOOP:
        return FileChanged(f"{path_text(path)}: a link took the place of a folder or file meanwhile; {after}")
    if error.errno in _NOT_A_FILE:
        return PathDenied(message, hint="name a file that the disk can hold")
    return StorageFailed(message)
