"""A compact encoding of the chunks of a content."""

from collections.abc import Sequence
from operator import sub

from codeplane.code.packed_columns import pack_columns, unpack_columns
from codeplane.vectors.chunks import Chunk

_COLUMNS = 4


def pack_spans(spans: Sequence[Chunk]) -> bytes:
    """Pack chunks as columns: starts, lengths, first lines and line counts."""
    starts, lines = [span.start for span in spans], [span.start_line for span in spans]
    return pack_columns(
        starts,
        list(map(sub, [span.end for span in spans], starts)),
        lines,
        list(map(sub, [span.end_line for span in spans], lines)),
    )


def unpack_spans(raw: bytes) -> list[Chunk]:
    """Unpack all chunks."""
    columns = [column.tolist() for column in unpack_columns(raw, _COLUMNS)]
    return [_chunk(*numbers) for numbers in zip(*columns, strict=True)]


def unpack_span(raw: bytes, place: int) -> Chunk | None:
    """Unpack one chunk by position, or None."""
    widths = raw[:_COLUMNS]
    rows = (len(raw) - _COLUMNS) // (sum(widths) or 1)
    if not 0 <= place < rows:
        return None
    numbers, at = [], _COLUMNS
    for width in widths:
        begin = at + place * width
        numbers.append(int.from_bytes(raw[begin : begin + width], "little"))
        at += rows * width
    return _chunk(*numbers)


def may_be(size: int, count: int) -> bool:
    """Whether `count` chunks can take `size` bytes."""
    return size >= _COLUMNS and (size - _COLUMNS) % max(count, 1) == 0


def _chunk(start: int, length: int, line: int, height: int) -> Chunk:
    return Chunk(start=start, end=start + length, start_line=line, end_line=line + height)
