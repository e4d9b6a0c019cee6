"""A file lock that the system releases when its process ends."""

import os
from pathlib import Path
from typing import TextIO

import portalocker

from codeplane.kernel.errors import CodePlaneError, ServerRunning, StorageReadOnly


class FileLock:
    """The lock of a workspace's server, held through an open file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def acquire(self) -> None:
        """Acquire the lock, or raise ServerRunning; the system releases it when the process ends."""
        try:
            file = self._path.open("a+")
        except OSError as error:
            raise StorageReadOnly(f"{self._path} cannot be opened: {error.strerror}") from error
        try:
            portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
        except portalocker.LockException as error:
            file.close()
            raise ServerRunning("another process already serves this repository") from error
        self._file = file

    def holder(self) -> int:
        """Return the process id that holds the lock; 0 if unknown."""
        try:
            file = self._path.stat()
            place = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
            lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        except OSError:
            return 0
        # As in `1: FLOCK ADVISORY WRITE 1234 08:01:5678 0 EOF`; those that only wait have an arrow first.
        return next((int(words[4]) for words in lines if len(words) > 5 and words[5] == place), 0)

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            portalocker.unlock(self._file)
            self._file.close()
            self._file = None


def lock_holder(path: Path) -> int | None:
    """Return the process id that holds a lock, 0 if it is unknown, or None if the lock is free."""
    if not path.exists():
        return None
    lock = FileLock(path)
    try:
        lock.acquire()
    except ServerRunning:
        return lock.holder()
    except CodePlaneError:
        return None  # A folder that cannot be written is another check's.
    lock.release()
    return None
