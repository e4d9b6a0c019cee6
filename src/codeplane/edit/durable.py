"""Files and folders made durable together: what waits for the disk waits at the same time."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress

_SHARES = 4
# So few are often durable with the first of them.
_FEW = 2
# A disk that syncs in less is done before another thread is awake.
_QUICK_NS = 100_000


class Syncs:
    """Syncs many descriptors at once, by threads that stay for the next time: to start them costs more than a sync."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_SHARES - 1, thread_name_prefix="journal")

    def of(self, descriptors: Sequence[int]) -> None:
        """Return when all are durable; raises what the disk said of one that is not."""
        left = list(descriptors)
        while len(left) > _FEW:
            if not _is_quick(left.pop()):
                self._together(left)
                return
        _synced(left)

    def _together(self, descriptors: Sequence[int]) -> None:
        # A share for each: to hand over every one by itself costs more than most of them do.
        shares = [descriptors[start::_SHARES] for start in range(min(_SHARES, len(descriptors)))]
        others = [self._threads.submit(_synced, share) for share in shares[1:]]
        try:
            _synced(shares[0])
        finally:
            # Whoever called may close what is still being synced as soon as this returns.
            wait(others)
        for other in others:
            other.result()


def begun(descriptor: int) -> None:
    """Let the disk begin with a file that will be synced in a while."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _is_quick(descriptor: int) -> bool:
    """Sync one, and say whether that took no time."""
    started = time.perf_counter_ns()
    os.fsync(descriptor)
    return time.perf_counter_ns() - started < _QUICK_NS


def _synced(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.fsync(descriptor)
