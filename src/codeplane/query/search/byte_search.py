"""Finding bytes in a large content: by the C library where it can, which takes half the time and lets others run."""

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
    """Where some bytes are first from a place on, or -1."""

    def __call__(self, needle: bytes, start: int = 0, /) -> int: ...


def find(content: Content, needle: bytes, start: int, end: int) -> int:
    """Where some bytes are first, or -1; as `bytes.find` has it."""
    memmem = _memmem() if end - start >= _LARGE else None
    end = min(end, len(content))
    if memmem is None or start < 0 or start >= end or not needle:
        return content.find(needle, start, end)
    # The view keeps the content where it is for as long as it is looked at.
    view = np.frombuffer(content, dtype=np.uint8)
    base = view.ctypes.data
    found = memmem(base + start, end - start, needle, len(needle))
    return -1 if found is None else found - base


def finding(text: bytes) -> Find:
    """The same for one text in memory that is looked through again and again: where some bytes are from a place on."""
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
        found = memmem(base + start, length - start, needle, len(needle))
        return -1 if found is None else found - base

    return find


@cache
def _memmem(*, held: bool = False) -> Callable[[int, int, bytes, int], int | None] | None:
    """The library's function; `held` keeps others from running meanwhile, which is right where it takes no time."""
    try:
        function = (ctypes.PyDLL if held else ctypes.CDLL)(None).memmem
    except (AttributeError, OSError, TypeError):
        # Not every C library has it.
        return None
    function.restype = ctypes.c_void_p
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)

    def found(at: int, length: int, needle: bytes, size: int) -> int | None:
        place: int | None = function(at, length, needle, size)
        return place

    return found
