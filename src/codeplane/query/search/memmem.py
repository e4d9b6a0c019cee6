"""Byte search in large content by the C library's memmem, which is faster and releases the GIL."""

import ctypes
import mmap
from collections.abc import Callable
from functools import cache
from typing import Protocol, TypeAlias

import numpy as np

Content: TypeAlias = "mmap.mmap | bytes"

# Below this Python is as fast as the way to the library and back.
_LARGE = 64 * 1024
_SMALL = 4 * 1024
_NEAR = 1024


class Find(Protocol):
    """Finds bytes from an offset on, or returns -1."""

    def __call__(self, needle: bytes, start: int = 0, /) -> int: ...


def find(content: Content, needle: bytes, start: int, end: int) -> int:
    """Like `bytes.find`."""
    memmem = _memmem() if end - start >= _LARGE else None
    end = min(end, len(content))
    if memmem is None or start < 0 or start >= end or not needle:
        return content.find(needle, start, end)
    # The view keeps the content where it is for as long as it is looked at.
    view = np.frombuffer(content, dtype=np.uint8)
    base = view.ctypes.data
    address = memmem(base + start, end - start, needle, len(needle))
    return -1 if address is None else address - base


def make_finder(text: bytes) -> Find:
    """Make a fast `find` for one text that is searched repeatedly."""
    memmem = _memmem(held=True) if len(text) >= _SMALL else None
    if memmem is None:
        return text.find
    base, length = np.frombuffer(text, dtype=np.uint8).ctypes.data, len(text)

    def find(needle: bytes, start: int = 0) -> int:
        # What is near is found sooner than the library is asked.
        near = text.find(needle, start, start + _NEAR)
        if near >= 0 or start + _NEAR >= length:
            return near
        start += _NEAR - len(needle) + 1
        address = memmem(base + start, length - start, needle, len(needle))
        return -1 if address is None else address - base

    return find


@cache
def _memmem(*, held: bool = False) -> Callable[[int, int, bytes, int], int | None] | None:
    """The library's function; `held` keeps the GIL, for short searches."""
    try:
        function = (ctypes.PyDLL if held else ctypes.CDLL)(None).memmem
    except (AttributeError, OSError, TypeError):
        # Not every C library has it.
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)

    def call_memmem(at: int, length: int, needle: bytes, size: int) -> int | None:
        place: int | None = function(at, length, needle, size)
        return place

    return call_memmem
