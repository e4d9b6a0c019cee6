"""The allocator of the C library, told what kind of program this is."""

import ctypes

_ARENA_MAX = -8


def share_one_arena() -> bool:
    """Have all threads share one heap; whether the library could be told so, which only glibc can.

    Each thread would get a heap of its own, and keep what it once needed: a tenth of the server's memory.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_ARENA_MAX, 1))
    except (OSError, AttributeError):
        return False
