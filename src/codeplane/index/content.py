"""The text of all files in one contiguous file, mapped into memory: what makes exact search fast."""

import mmap
import os
from pathlib import Path
from typing import Self

from codeplane.kernel.errors import IndexNotReady

# Between files: no line and no match can reach from one into the next, and `^` and `$` hold at their ends.
SEPARATOR = b"\n\0\n"


class ContentMap(mmap.mmap):
    """The committed bytes of a content file in memory, and parts of them as they are on the disk."""

    _descriptor: int

    def __new__(cls, descriptor: int, length: int) -> Self:
        made = super().__new__(cls, descriptor, length, access=mmap.ACCESS_READ)
        made._descriptor = os.dup(descriptor)
        return made

    def part(self, offset: int, length: int) -> bytes:
        """Some bytes, read from the file: IndexNotReady where somebody cut it off, which to read in memory would end
        the process."""
        found = os.pread(self._descriptor, length, offset)
        if len(found) != length:
            raise IndexNotReady("the content of the index was cut off by others, and is read anew")
        return found

    def __del__(self) -> None:
        os.close(self._descriptor)


class ContentFile:
    """An append-only file of contents; what lies beyond the last committed length does not count."""

    def __init__(self, path: Path, *, length: int) -> None:
        """Open or create the file and forget what was never committed."""
        self.path = path
        # Not with its parents: a folder of ours that was removed while it is served is not made again.
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._file.truncate(length)
        self._file.seek(length)
        self.length = length
        self._on_disk = length
        self._written_ns = os.fstat(self._file.fileno()).st_mtime_ns

    def append(self, content: bytes) -> int:
        """Write a file's bytes and return where they begin."""
        if self.length == 0:
            self._file.write(SEPARATOR)
            self.length = len(SEPARATOR)
        offset = self.length
        self._file.write(content)
        self._file.write(SEPARATOR)
        self.length += len(content) + len(SEPARATOR)
        return offset

    def is_whole(self) -> bool:
        """Whether all that was mapped is still there: to read what somebody cut off ends the process.

        What somebody deleted is there for us, but not for those who parse it; what somebody wrote over is another's.
        """
        try:
            found = os.fstat(self._file.fileno())
        except ValueError:
            return True  # closed meanwhile: another file took its place
        # While more is appended the time is ours, and unknown until that is mapped, too.
        is_ours = self.length != self._on_disk or found.st_mtime_ns == self._written_ns
        return found.st_size >= self._on_disk and found.st_nlink > 0 and is_ours

    def flush(self) -> None:
        """Let others read what was appended so far."""
        self._file.flush()

    def sync(self) -> None:
        """Bring what was appended to the disk, before the epoch that speaks of it."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def map(self) -> "ContentMap | bytes":
        """The committed bytes, as they are now."""
        self._file.flush()
        self._written_ns = os.fstat(self._file.fileno()).st_mtime_ns
        self._on_disk = self.length
        if self.length == 0:
            return b""
        return ContentMap(self._file.fileno(), self.length)

    def close(self) -> None:
        """Close the file; maps that are still held stay valid."""
        self._file.close()
