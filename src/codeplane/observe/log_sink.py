"""Destinations of the server's log: a stream, or a file that may be rotated, removed or full."""

import errno
import os
import stat
from pathlib import Path
from typing import Protocol, TextIO

ROTATE_BYTES = 5 * 1024 * 1024
KEEP_OLD = 3


def old_file(path: Path, age: int) -> Path:
    """A rotated file of the log; 1 is the youngest."""
    return path.with_name(f"{path.name}.{age}")


class LogSink(Protocol):
    """Writes lines; raises when it cannot."""

    @property
    def name(self) -> str: ...

    def write(self, line: str) -> None:
        """Write one line, whole."""
        ...

    def close(self) -> None:
        """Close what is open."""
        ...


class StreamSink:
    """Standard error or output."""

    def __init__(self, *, name: str, stream: TextIO | None) -> None:
        self.name = name
        self._stream = stream

    def write(self, line: str) -> None:
        if self._stream is None:
            raise OSError(errno.EBADF, "the stream is closed")
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        self._stream.flush()

    def close(self) -> None:
        """Do nothing: the stream belongs to the process."""


class FileSink:
    """A file, reopened when it was moved or removed; our own is also rotated."""

    def __init__(self, path: Path, *, own: bool) -> None:
        self.name = str(path)
        self._path = path
        self._own = own
        self._fd: int | None = None
        self._opened: tuple[int, int] | None = None
        self._is_line_incomplete = False
        if own:
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError:
                pass  # the first write reports it

    def write(self, line: str) -> None:
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        fd = self._current_file(len(data))
        if self._is_line_incomplete:
            data = b"\n" + data
        written = os.write(fd, data)
        self._is_line_incomplete = written < len(data)
        if self._is_line_incomplete:
            raise OSError(errno.ENOSPC, "only a part of a line could be written")

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
        self._fd = None

    def _current_file(self, size: int) -> int:
        """A descriptor of the file that the path names now."""
        try:
            status = self._path.stat(follow_symlinks=not self._own)
        except FileNotFoundError:
            self.close()
        else:
            if self._opened != (status.st_dev, status.st_ino):
                self.close()
            if (
                self._own
                and stat.S_ISREG(status.st_mode)
                and status.st_size > 0
                and status.st_size + size > ROTATE_BYTES
            ):
                self._rotate()
        return self._fd if self._fd is not None else self._open()

    def _open(self) -> int:
        # Our own file is in a repository that others may have prepared: a link there is not followed.
        # Without O_NONBLOCK, a pipe without a reader would block the server.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
        self._fd = fd = os.open(self._path, flags | (getattr(os, "O_NOFOLLOW", 0) if self._own else 0), 0o600)
        status = os.fstat(fd)
        self._opened = (status.st_dev, status.st_ino)
        self._is_line_incomplete = (
            stat.S_ISREG(status.st_mode) and status.st_size > 0 and _last_byte(self._path) != b"\n"
        )
        return fd

    def _rotate(self) -> None:
        self.close()
        try:
            for age in range(KEEP_OLD, 0, -1):
                source = old_file(self._path, age - 1) if age > 1 else self._path
                if age == 1 or source.exists():
                    source.replace(old_file(self._path, age))
        except OSError:
            pass  # an oversized file is better than none


def _last_byte(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1)
    except OSError:
        return b"\n"
