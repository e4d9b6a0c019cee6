"""Small files that only their owner may read, replaced atomically."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from codeplane.kernel.errors import StorageFailed, StorageReadOnly

_MAX_BYTES = 1024 * 1024
_OWNER_ONLY = 0o600


def read_secret(path: Path) -> bytes | None:
    """The content of the file, or None when there is none; its mode is corrected when others could read it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise _unusable(path, "it is not a plain file")
        if status.st_uid != os.geteuid():
            # Its owner could change it whatever its mode.
            raise _unusable(path, "it belongs to another user")
        if stat.S_IMODE(status.st_mode) != _OWNER_ONLY:
            os.fchmod(file, _OWNER_ONLY)
        return os.read(file, _MAX_BYTES)
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    finally:
        os.close(file)


def write_secret(path: Path, data: bytes) -> None:
    """Replace a file atomically, readable only by its owner."""
    partial = path.with_name(path.name + ".part")
    try:
        partial.unlink(missing_ok=True)
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _OWNER_ONLY)
        try:
            with os.fdopen(file, "wb") as opened:
                opened.write(data)
                opened.flush()
                os.fsync(opened.fileno())
            partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StorageReadOnly(f"{path} cannot be written: {error.strerror}") from error


def _unusable(path: Path, reason: str) -> StorageFailed:
    return StorageFailed(f"{path} cannot be used: {reason}", hint=f"look at it, or: mv {path} {path}.broken")
