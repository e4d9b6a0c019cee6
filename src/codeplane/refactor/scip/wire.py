"""The wire format of protocol buffers, read: fields of a message one after the other."""

from collections.abc import Iterator

from codeplane.kernel.errors import ScipRefused

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MAX_BITS = 70


def fields(view: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: their numbers, and what they hold; numbers of fixed width are passed over."""
    at, end = 0, len(view)
    while at < end:
        key, at = _varint(view, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(view, at)
            yield number, value
            continue
        if wire == _BYTES:
            length, at = _varint(view, at)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise ScipRefused(f"this is no SCIP index: wire type {wire} is not known")
        if not number or at + length > end:
            raise ScipRefused("the index ends in the middle: it was cut off, or its indexer did not finish")
        if wire == _BYTES:
            yield number, view[at : at + length]
        at += length


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < _MAX_BITS and at < len(view):
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ScipRefused("the index ends in the middle: it was cut off, or its indexer did not finish")


def varints(view: memoryview) -> list[int]:
    """Numbers that are packed one after the other."""
    found, at = [], 0
    while at < len(view):
        value, at = _varint(view, at)
        found.append(value)
    return found


def text_of(value: int | memoryview) -> str:
    """A field that holds text."""
    if isinstance(value, int):
        raise ScipRefused("this is no SCIP index: a number stands where text should")
    try:
        return bytes(value).decode()
    except UnicodeDecodeError as error:
        raise ScipRefused("this is no SCIP index: a name in it is not UTF-8") from error
