"""The output of a runner, of which the beginning and the end are stored."""

import asyncio
from collections import deque
from io import RawIOBase
from pathlib import Path

from codeplane.kernel.last_line import LastLine

HEAD_BYTES = 4 * 1024 * 1024
TAIL_BYTES = 1024 * 1024
_CHUNK = 256 * 1024


class Output:
    """Copies a stream into a file up to a limit; bytes that are cut from the middle are counted and noted there."""

    def __init__(self, path: Path, *, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._path = path
        self._head = head
        self._tail_size = tail
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._written = 0
        self.cut = 0
        self.total = 0
        self._line = LastLine()

    @property
    def last_line(self) -> str:
        """The last complete line."""
        return self._line.text

    async def drain(self, stream: asyncio.StreamReader) -> None:
        """Read until the end."""
        with self._path.open("wb", buffering=0) as file:
            try:
                while chunk := await stream.read(_CHUNK):
                    self._take(chunk, file)
            finally:
                self._finish(file)

    def _take(self, chunk: bytes, file: RawIOBase) -> None:
        self.total += len(chunk)
        self._line.take(chunk)
        room = self._head - self._written
        if room > 0:
            written = chunk[:room]
            self._written += len(written)
            self._write(file, written)
            chunk = chunk[room:]
        if chunk:
            self._tail.append(chunk)
            self._tail_bytes += len(chunk)
            while self._tail_bytes - len(self._tail[0]) >= self._tail_size:
                dropped = self._tail.popleft()
                self._tail_bytes -= len(dropped)
                self.cut += len(dropped)

    def _finish(self, file: RawIOBase) -> None:
        tail = b"".join(self._tail)
        self.cut += max(0, len(tail) - self._tail_size)
        if self.cut:
            self._write(file, f"…\n[… {self.cut:,} bytes cut …]\n…".encode())
        self._write(file, tail[-self._tail_size :])

    def _write(self, file: RawIOBase, data: bytes) -> None:
        """Write, or count what could not be written: a full disk must not block the process that prints."""
        try:
            while data:
                data = data[file.write(data) or 0 :]
        except OSError:
            self.cut += len(data)
