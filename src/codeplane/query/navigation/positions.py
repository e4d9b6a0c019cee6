"""Lines and columns of a text, counted as its reader counts."""

import re
from typing import Literal

import numpy as np

# `characters` counts lines as answers of CodePlane do, by line feeds; the others as the Language Server Protocol does,
# where a lone carriage return ends a line too.
Unit = Literal["characters", "utf-8", "utf-16", "utf-32"]
_LINE_END = re.compile(rb"\r\n|\n|\r")
_FEED = ord("\n")


class Positions:
    """Converts between offsets in a text and lines and columns, which count from 1."""

    def __init__(self, text: bytes, unit: Unit = "characters") -> None:
        self._text = text
        self._unit = unit
        self._starts = _line_starts(text, lone_returns=unit != "characters")

    @property
    def line_count(self) -> int:
        """The number of lines; a text that ends in a line break has an empty one behind it."""
        return len(self._starts)

    def offset(self, line: int, column: int) -> int | None:
        """Return the offset of a place, at most the end of its line; None if there is no such line."""
        if not 1 <= line <= len(self._starts):
            return None
        start, end = self._bounds(line)
        part = self._text[start:end]
        wanted = max(column - 1, 0)
        if part.isascii():
            return start + min(wanted, len(part))
        if self._unit == "utf-8":
            at = min(wanted, len(part))
            while at < len(part) and part[at] & 0xC0 == 0x80:
                at -= 1
            return start + at
        decoded = part.decode("utf-8", "surrogateescape")
        if self._unit != "utf-16":
            return start + len(decoded[:wanted].encode("utf-8", "surrogateescape"))
        units = decoded.encode("utf-16-le", "surrogatepass")[: 2 * wanted]
        # Between the halves of a character is before it.
        units = units[:-2] if len(units) > 1 and 0xD8 <= units[-1] <= 0xDB else units
        before = units.decode("utf-16-le", "surrogatepass")
        return start + len(before.encode("utf-8", "surrogateescape"))

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset."""
        line = int(np.searchsorted(self._starts, offset, side="right"))
        part = self._text[int(self._starts[line - 1]) : offset]
        if self._unit == "utf-8" or part.isascii():
            return line, len(part) + 1
        decoded = part.decode("utf-8", "surrogateescape")
        if self._unit == "utf-16":
            return line, len(decoded.encode("utf-16-le", "surrogatepass")) // 2 + 1
        return line, len(decoded) + 1

    def _bounds(self, line: int) -> tuple[int, int]:
        start = int(self._starts[line - 1])
        end = int(self._starts[line]) if line < len(self._starts) else len(self._text)
        # Without what ends the line.
        while end > start and self._text[end - 1] in b"\r\n" and line < len(self._starts):
            end -= 1
        return start, end


def _line_starts(text: bytes, *, lone_returns: bool) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if lone_returns and text.count(b"\r") != text.count(b"\r\n"):
        return np.array([0, *(match.end() for match in _LINE_END.finditer(text))], dtype=np.int64)
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == _FEED).astype(np.int64) + 1
    return np.concatenate([np.zeros(1, np.int64), ends])
