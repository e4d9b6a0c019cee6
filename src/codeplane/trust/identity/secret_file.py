"""Small files that only their owner may read: made closed, read closed, replaced whole."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from codeplane.kernel.errors import StorageFailed, StorageReadOnly

_LARGEST = 1024 * 1024
_CLOSED = 0o600


def read_secret(path: Path) -> bytes | None:
    """What is in the file, or None when there is none; closed to others on the way when it was open to them."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise _unusable(path, "it is not a plain file")
        if found.st_uid != os.geteuid():
            # Whoever owns the file can change it, whatever its mode says.
            raise _unusable(path, "it belongs to another user")
        if stat.S_IMODE(found.st_mode) != _CLOSED:
            os.fchmod(file, _CLOSED)
        return os.read(file, _LARGEST)
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from error
    finally:
        os.close(file)


def write_secret(path: Path, data: bytes) -> None:
    """Put a file in place so that readers see the old one or the new one, and nobody else sees either."""
    partial = path.with_name(path.name + ".part")
    try:
        partial.unlink(missing_ok=True)
        file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _CLOSED)
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
