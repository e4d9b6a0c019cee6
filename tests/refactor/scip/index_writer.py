"""SCIP indexes as bytes, written by the tests themselves."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Doc:
    """A document: occurrences are (line, column, length, symbol, roles), counted from 0."""

    path: str
    places: Sequence[tuple[int, int, int, str, int]] = ()
    text: str | None = None
    encoding: int = 0
    relations: Sequence[tuple[str, str]] = field(default_factory=tuple)


def index_bytes(documents: Sequence[Doc], *, root: str = "", tool: str = "scip-test") -> bytes:
    """An index."""
    metadata = _field(2, _field(1, tool.encode()) + _field(2, b"1.0")) + _field(3, root.encode())
    return _field(1, metadata) + b"".join(_field(2, _document(document)) for document in documents)


def _document(one: Doc) -> bytes:
    raw = _field(1, one.path.encode())
    for line, column, length, symbol, roles in one.places:
        place = _varint(line) + _varint(column) + _varint(column + length)
        raw += _field(2, _field(1, place) + _field(2, symbol.encode()) + _number(3, roles))
    for symbol, other in one.relations:
        raw += _field(3, _field(1, symbol.encode()) + _field(4, _field(1, other.encode()) + _number(3, 1)))
    if one.text is not None:
        raw += _field(5, one.text.encode())
    return raw + (_number(6, one.encoding) if one.encoding else b"")


def _field(number: int, raw: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(raw)) + raw


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    raw = b""
    while value > 0x7F:
        raw += bytes([value & 0x7F | 0x80])
        value >>= 7
    return raw + bytes([value])
