"""The lock that git and its children hold on a file while they work, by which a later server sees their end."""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

_LOOKS, _LOOK_SEC = 40, 0.05


def is_locked(path: Path, *, missing: bool) -> bool:
    """Whether a process still holds the lock on a file, `missing` where there is none; waits a moment for its end."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return missing
    try:
        for _ in range(_LOOKS):
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            time.sleep(_LOOK_SEC)
        return True
    finally:
        os.close(descriptor)
