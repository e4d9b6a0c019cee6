"""The text of all files in one memory-mapped file, which makes exact search fast."""

import mmap
import os
from pathlib import Path
from typing import Self

from codeplane.kernel.errors import IndexNotReady

# Between files: no line and no match can reach from one into the next, and `^` and `$` hold at their ends.
SEPARATOR = b"\n\0\n"
# The file is this much longer than its texts when it is mapped, or by this share: to map it again and look at each of
# its pages anew takes longer than most searches, and would come after every edit.
_SPARE_BYTES, _SPARE_SHARE = 1024 * 1024, 8


class ContentMap(mmap.mmap):
    """A content file, mapped into memory or read from the disk; zeros follow its texts."""

    _descriptor: int

    def __new__(cls, descriptor: int, length: int) -> Self:
        mapped = super().__new__(cls, descriptor, length, access=mmap.ACCESS_READ)
        mapped._descriptor = os.dup(descriptor)
        return mapped

    def part(self, offset: int, length: int) -> bytes:
        """Read bytes from the file; IndexNotReady if it was truncated, which would crash a read of the map."""
        data = os.pread(self._descriptor, length, offset)
        if len(data) != length:
            raise IndexNotReady("the content of the index was cut off by others, and is read again")
        return data

    def __del__(self) -> None:
        os.close(self._descriptor)


class ContentFile:
    """An append-only file of contents; bytes beyond the last committed length are ignored."""

    def __init__(self, path: Path, *, length: int) -> None:
        """Open or create the file and drop uncommitted bytes."""
        self.path = path
        # Not with its parents: a folder of ours that was removed while it is served is not made again.
        path.parent.mkdir(exist_ok=True)
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._file.truncate(length)
        self._file.seek(length)
        self.length = length
        self._mapped: ContentMap | None = None
        self._mapped_length = self._on_disk = length
        self._written_ns = os.fstat(self._file.fileno()).st_mtime_ns

    def append(self, content: bytes) -> int:
        """Append a file's bytes and return their offset."""
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

        A deleted file is still there for us, but not for the parsers; an overwritten file is another one.
        """
        try:
            status = os.fstat(self._file.fileno())
        except ValueError:
            return True  # closed meanwhile: another file took its place
        # While more is appended the time is ours, and unknown until that is mapped, too.
        is_ours = self.length != self._mapped_length or status.st_mtime_ns == self._written_ns
        return status.st_size >= self._on_disk and status.st_nlink > 0 and is_ours

    def flush(self) -> None:
        """Make appended bytes visible to other readers."""
        self._file.flush()

    def sync(self) -> None:
        """Flush appended bytes to the disk, before the epoch that refers to them."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def map(self) -> "ContentMap | bytes":
        """Map the committed bytes; the same map as before while there is room for them."""
        self._file.flush()
        descriptor = self._file.fileno()
        if self.length and (self._mapped is None or len(self._mapped) < self.length):
            self._on_disk = self.length + max(_SPARE_BYTES, self.length // _SPARE_SHARE)
            os.ftruncate(descriptor, self._on_disk)
            self._mapped = ContentMap(descriptor, self._on_disk)
        self._written_ns = os.fstat(descriptor).st_mtime_ns
        self._mapped_length = self.length
        return self._mapped or b""

    def close(self) -> None:
        """Close the file; maps that are still held stay valid."""
        self._file.close()
