"""Columns of numbers as bytes, each as narrow as its largest number; places and spans among them."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from operator import sub
from typing import Literal

import numpy as np
from numpy.typing import NDArray

NO_SPANS = b"\1\1"
_NO_BOUNDS = (memoryview(b""), memoryview(b""))
_WIDTHS = {width: np.dtype(f"<u{width}") for width in (1, 2, 4)}
_KINDS: dict[int, Literal["B", "H", "I"]] = {1: "B", 2: "H", 4: "I"}


def pack_columns(*columns: Sequence[int]) -> bytes:
    """Columns of equal length, each as narrow as its largest number: first their widths, then one after the other."""
    if not columns[0]:
        return b"\1" * len(columns)
    parts = []
    widths = []
    for column in columns:
        largest = max(column)
        if largest < 1 << 8:
            widths.append(1)
            parts.append(bytes(column))
        else:
            kind = "H" if largest < 1 << 16 else "I"
            packed = array(kind, column)
            widths.append(packed.itemsize)
            parts.append(packed.tobytes())
    return b"".join((bytes(widths), *parts))


def unpack_columns(raw: bytes, count: int) -> list[NDArray[np.unsignedinteger]]:
    """The columns that were packed, as narrow as they are."""
    return [to_array(column) for column in views(raw, count)]


def views(raw: bytes, count: int) -> list[memoryview]:
    """The columns that were packed, without copying them."""
    widths = raw[:count]
    rows, rest = divmod(len(raw) - count, sum(widths) or 1)
    if len(widths) < count or rest:
        raise ValueError("columns of unequal length")
    found, at, view = [], count, memoryview(raw)
    for width in widths:
        found.append(view[at : at + rows * width].cast(_KINDS[width]))
        at += rows * width
    return found


def to_array(column: memoryview) -> NDArray[np.unsignedinteger]:
    """A column as an array over the same bytes."""
    return np.frombuffer(column, dtype=_WIDTHS[column.itemsize])


def cumulate(steps: memoryview) -> NDArray[np.uint32]:
    """The numbers whose steps were packed."""
    return np.cumsum(to_array(steps), dtype=np.uint32)


def pack_steps(numbers: Sequence[int]) -> list[int]:
    """Ascending numbers as the steps between them, which are small."""
    return list(map(sub, numbers, (0, *numbers)))


def pack_spans(spans: Sequence[tuple[int, int]]) -> bytes:
    """Stretches in the order of their starts: the steps between these, and the lengths."""
    if not spans:
        return NO_SPANS
    starts, ends = zip(*spans, strict=True)
    return pack_columns(pack_steps(starts), list(map(sub, ends, starts)))


def unpack_spans(raw: bytes) -> NDArray[np.uint32]:
    """The spans that were packed: a row each, with start and end."""
    steps, lengths = unpack_columns(raw, 2)
    spans = np.empty((len(steps), 2), np.uint32)
    np.cumsum(steps, dtype=np.uint32, out=spans[:, 0])
    np.add(spans[:, 0], lengths, out=spans[:, 1])
    return spans


def span_bounds(raw: bytes) -> tuple[memoryview, memoryview]:
    """The starts and the ends of packed spans."""
    if raw == NO_SPANS:
        return _NO_BOUNDS
    steps, lengths = views(raw, 2)
    starts = cumulate(steps)
    return starts.data, (starts + to_array(lengths)).data


def is_inside(bounds: tuple[memoryview, memoryview], offset: int) -> bool:
    """Whether a place is in one of the spans with these starts and ends."""
    starts, ends = bounds
    index = bisect_right(starts, offset) - 1
    return index >= 0 and offset < ends[index]
