"""The file system's clock: within one tick, two writes leave the same stamp.

A file that is read in the tick it was written in may be written once more in it, and nothing would tell. So such a file
is read when the tick is over. Newer systems give every write a stamp of its own once somebody looked at the one before
(Linux since 6.13, on most of its file systems), and there nobody waits.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from codeplane.index.files.file import Stamp

# CLOCK_REALTIME_COARSE, which Linux takes stamps from; Python has no name for it.
_COARSE = 5
_TRIES = 8
_STEP_SEC = 0.002
_LONGEST_SEC = 0.02
# Elsewhere the clock is not known: no tick is longer.
_LONGEST_NS = 20_000_000
# What is later than that was stamped by another clock, which waiting does not help with.
_AHEAD_NS = 1_000_000_000
_ALWAYS = 1 << 62


class FileClock:
    """Tells whether a stamp identifies a file's content."""

    def __init__(self, *, fine: bool) -> None:
        self._fine = fine

    @classmethod
    def of(cls, root: Path, home: Path) -> "FileClock":
        """The clock of a root, measured in our own folder; coarse if that is on another disk."""
        try:
            return cls(fine=root.stat().st_dev == home.stat().st_dev and has_fine_stamps(home))
        except OSError:
            return cls(fine=False)

    def now(self) -> int:
        """The time before which stamps are final."""
        if self._fine:
            return _ALWAYS
        return time.clock_gettime_ns(_COARSE) if sys.platform == "linux" else time.time_ns() - _LONGEST_NS

    def wait(self, stamp: Stamp) -> None:
        """Wait until a stamp's tick is over."""
        until = time.monotonic() + _LONGEST_SEC
        while self.now() <= stamp.ctime_ns < self.now() + _AHEAD_NS and time.monotonic() < until:
            time.sleep(_STEP_SEC)


def has_fine_stamps(folder: Path) -> bool:
    """Whether consecutive writes in a folder leave different stamps."""
    with tempfile.TemporaryFile(dir=folder) as file:
        seen = set()
        for number in range(_TRIES):
            os.pwrite(file.fileno(), b"%d" % number, 0)
            status = os.fstat(file.fileno())
            seen.add((status.st_mtime_ns, status.st_ctime_ns))
    return len(seen) == _TRIES
