"""Syncs many files and folders to disk at the same time."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

_SHARES = 4
# So few are synced one after another.
_FEW = 2
# A disk that syncs faster is done before another thread has started.
_QUICK_NS = 100_000


class Fsync:
    """Sync many descriptors in threads that are kept, since starting one costs more than a sync."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_SHARES - 1, thread_name_prefix="journal")

    def sync(self, descriptors: Sequence[int]) -> None:
        """Sync all descriptors; raises the first error."""
        left = list(descriptors)
        while len(left) > _FEW:
            if not _sync_quickly(left.pop()):
                self._sync_in_threads(left)
                return
        _sync_all(left)

    def _sync_in_threads(self, descriptors: Sequence[int]) -> None:
        # A share for each thread: handing over single descriptors costs more than most syncs.
        shares = [descriptors[start::_SHARES] for start in range(min(_SHARES, len(descriptors)))]
        others = [self._threads.submit(_sync_all, share) for share in shares[1:]]
        try:
            _sync_all(shares[0])
        finally:
            # The caller may close the descriptors as soon as this returns.
            wait(others)
        for other in others:
            other.result()


def start_writeback(descriptor: int) -> None:
    """Ask the disk to start writing a file that will be synced later."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _sync_quickly(descriptor: int) -> bool:
    """Sync one descriptor and say whether it was quick."""
    started = time.perf_counter_ns()
    os.fsync(descriptor)
    return time.perf_counter_ns() - started < _QUICK_NS


def _sync_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.fsync(descriptor)
