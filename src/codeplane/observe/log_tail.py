"""The last lines of the log, across its rotated files."""

import os
import stat
from pathlib import Path

from codeplane.observe.log_sink import KEEP_OLD, old_file

BLOCK = 64 * 1024


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a log and its rotated files, oldest first; empty when there is no log."""
    tail_lines: list[bytes] = []
    seen: set[tuple[int, int]] = set()
    for file in (path, *(old_file(path, age) for age in range(1, KEEP_OLD + 1))):
        if len(tail_lines) >= lines:
            break
        tail_lines = _last_lines(file, lines - len(tail_lines), seen) + tail_lines
    return [line.decode("utf-8", "replace") for line in tail_lines]


def _last_lines(path: Path, lines: int, seen: set[tuple[int, int]]) -> list[bytes]:
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return []
    blocks: list[bytes] = []
    try:
        status = os.fstat(fd)
        # After a rotation in between, the same file would be read again under its next name.
        if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) in seen:
            return []
        seen.add((status.st_dev, status.st_ino))
        at, breaks = status.st_size, 0
        while at > 0 and breaks <= lines:
            size = min(BLOCK, at)
            at -= size
            os.lseek(fd, at, os.SEEK_SET)
            block = os.read(fd, size)
            breaks += block.count(b"\n")
            blocks.append(block)
    finally:
        os.close(fd)
    data = b"".join(reversed(blocks)).removesuffix(b"\n")
    return data.split(b"\n")[-lines:] if data else []
