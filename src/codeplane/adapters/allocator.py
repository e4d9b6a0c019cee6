"""The C library's memory allocator: its settings, and giving back what it holds but does not use."""

import ctypes
from collections.abc import Callable

_ARENA_MAX = -8
_MB = 1024 * 1024
# Trimming takes some milliseconds, in which nobody else gets memory.
_GROWN_BYTES = 16 * _MB


def share_one_arena() -> bool:
    """Make all threads share one heap; return False where the C library is not glibc.

    Each thread would get a heap of its own, and keep what it once needed: a tenth of the server's memory.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_ARENA_MAX, 1))
    except (OSError, AttributeError):
        return False


class HeapTrim:
    """Gives free pages between those in use back to the system, whenever the process has grown.

    The allocator gives back only what is free at the heap's end, so that under a mixed load its holes add up.
    """

    def __init__(self, resident_bytes: Callable[[], int]) -> None:
        self._resident_bytes = resident_bytes
        self._least = 0
        try:
            self._trim: Callable[[int], int] | None = ctypes.CDLL(None).malloc_trim
        except (OSError, AttributeError):
            self._trim = None

    def run(self) -> bool:
        """Trim the heap unless the process is about as small as it was; return whether it was trimmed."""
        resident = self._resident_bytes()
        self._least = min(self._least, resident)
        if self._trim is None or resident < self._least + _GROWN_BYTES:
            return False
        self._trim(0)
        self._least = self._resident_bytes()
        return True
