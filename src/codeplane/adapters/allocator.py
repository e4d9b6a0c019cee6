"""Settings of the C library's memory allocator."""

import ctypes

_ARENA_MAX = -8


def share_one_arena() -> bool:
    """Make all threads share one heap; return False where the C library is not glibc.

    Each thread would get a heap of its own, and keep what it once needed: a tenth of the server's memory.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_ARENA_MAX, 1))
    except (OSError, AttributeError):
        return False
