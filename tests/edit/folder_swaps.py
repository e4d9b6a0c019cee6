"""Somebody who swaps a folder of the work tree for a link to the outside, all the time."""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_PAUSE_SEC = 0.0003


def exchange(one: Path, other: Path) -> None:
    """Let two names change places in one step."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@contextmanager
def swap_folders(one: Path, other: Path) -> Iterator[None]:
    """Exchange two names over and over meanwhile; in the end both are where they were."""
    try:
        exchange(one, other)
        exchange(one, other)
    except (OSError, AttributeError) as error:
        pytest.skip(f"names CANNOT BE EXCHANGED here ({error}): the race was NOT CHECKED")
    over = threading.Event()

    def swap() -> None:
        while not over.wait(_PAUSE_SEC):
            exchange(one, other)
            over.wait(_PAUSE_SEC)
            exchange(one, other)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
