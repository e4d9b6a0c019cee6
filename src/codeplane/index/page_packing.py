"""An order of rows that fills SQLite pages best."""

from bisect import bisect_right
from collections.abc import Sequence

# As SQLite lays out a page of 4,096 bytes: https://www.sqlite.org/fileformat2.html, "B-tree Pages".
_PAGE = 4096
_ROOM = _PAGE - 8
_LONGEST = _PAGE - 35
_LEAST = (_PAGE - 12) * 32 // 255 - 23
_FURTHER = _PAGE - 4
# Of a row beside what it says: where it is on the page, its length and number, and where it goes on.
_CELL = 2 + 2 + 4
_LINK = 4


def packing_order(sizes: Sequence[int]) -> list[int]:
    """Positions of rows by size: each page takes the longest rows that still fit."""
    left = sorted((_on_page(size), place) for place, size in enumerate(sizes))
    order = []
    room = 0
    while left:
        index = bisect_right(left, (room, len(sizes)))
        if not index:
            room, index = _ROOM, len(left)
        size, place = left.pop(index - 1)
        room -= size
        order.append(place)
    return order


def _on_page(size: int) -> int:
    """The bytes of a row on its own page; the rest goes to overflow pages."""
    if size <= _LONGEST:
        return size + _CELL
    rest = _LEAST + (size - _LEAST) % _FURTHER
    return (rest if rest <= _LONGEST else _LEAST) + _CELL + _LINK
