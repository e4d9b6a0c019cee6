"""A lock that ends with the process that holds it, however that ends."""

from pathlib import Path
from typing import TextIO

import portalocker

from codeplane.kernel.errors import ServerRunning, StorageReadOnly


class FileLock:
    """The right to serve a workspace, held through an open, locked file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def acquire(self) -> None:
        """Take the lock or say that somebody else has it; the system releases it when the process ends."""
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

    def release(self) -> None:
        """Give the lock back."""
        if self._file is not None:
            portalocker.unlock(self._file)
            self._file.close()
            self._file = None
