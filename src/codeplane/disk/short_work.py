"""Work that takes no longer than handing it to a thread would.

Every system call of a thread lets another thread run, and getting its turn again costs more than most calls do. Where a
disk may keep a caller waiting, over a network or in a user's process, even short work goes to a thread.
"""

import asyncio
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ParamSpec, TypeVar

_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset(
    {b"bcachefs", b"btrfs", b"ext2", b"ext3", b"ext4", b"f2fs", b"overlay", b"ramfs", b"tmpfs", b"xfs", b"zfs"}
)
_ESCAPED = re.compile(rb"\\([0-7]{3})")
# How many files are few, and how many bytes are small.
_FEW, _SMALL = 4, 64 * 1024

P = ParamSpec("P")
T = TypeVar("T")


class ShortWork:
    """Runs work on the files of one folder, on the event loop or in a thread."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._device = _device(self._root) if is_local(root) else None

    async def run(self, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run short work: here if the disk is local, else in a thread."""
        if self._device is not None:
            return work(*args, **options)
        return await asyncio.to_thread(work, *args, **options)

    async def run_if(self, is_short: bool, work: Callable[[], T]) -> T:
        """Run work that is short only under a condition."""
        return await (self.run(work) if is_short else asyncio.to_thread(work))

    def is_small(self, paths: Iterable[str], *, most_bytes: int = _SMALL, may_be_missing: bool = False) -> bool:
        """Whether work on these files is short: few and small ones on the root's disk."""
        named = list(paths)
        if self._device is None or len(named) > _FEW:
            return False
        return all(self._is_small_file(path, most_bytes, may_be_missing) for path in named)

    def _is_small_file(self, path: str, most_bytes: int, may_be_missing: bool) -> bool:
        try:
            status = os.stat(f"{self._root}/{path}")  # noqa: PTH116  # asked for every file that is read
        except (OSError, ValueError) as error:
            # To find names near a missing one takes longer.
            return may_be_missing and isinstance(error, FileNotFoundError)
        return status.st_size <= most_bytes and status.st_dev == self._device


def is_local(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether a folder is on a disk of this machine; False if that is unknown."""
    try:
        lines = mounts.read_bytes().splitlines()
        real = os.fsencode(folder.resolve(strict=True)).rstrip(b"/") + b"/"
    except OSError:
        return False
    best, kind = 0, b""
    for line in lines:
        fields, _, rest = line.partition(b" - ")
        words, named = fields.split(), rest.split()
        if len(words) < 5 or not named:
            continue
        point = _ESCAPED.sub(lambda match: bytes([int(match[1], 8)]), words[4]).rstrip(b"/") + b"/"
        # Of two at one place the later one hides the other.
        if real.startswith(point) and len(point) >= best:
            best, kind = len(point), named[0]
    return kind in _LOCAL


def _device(root: str) -> int | None:
    try:
        return os.stat(root).st_dev  # noqa: PTH116  # as above
    except OSError:
        return None
