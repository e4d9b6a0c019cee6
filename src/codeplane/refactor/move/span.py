"""Spans of a text to replace, and the lines around them."""

import re
from dataclasses import dataclass

REST_OF_LINE = re.compile(rb"[ \t\f]*(?:\#[^\r\n]*)?(?=\r?\n|\r|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span of a text and its replacement."""

    start: int
    end: int
    new: str = ""


def line_start(text: bytes, at: int) -> int:
    """Return where the line of a place begins."""
    return max(text.rfind(b"\n", 0, at), text.rfind(b"\r", 0, at) if b"\n" not in text else -1) + 1


def past_newline(text: bytes, at: int) -> int:
    """Return the place after a line ending, if there is one."""
    if text[at : at + 2] == b"\r\n":
        return at + 2
    return at + 1 if text[at : at + 1] in (b"\n", b"\r") else at


def is_alone(text: bytes, start: int, end: int) -> bool:
    """Whether a span shares its lines with nothing but a comment."""
    return not text[line_start(text, start) : start].strip() and REST_OF_LINE.match(text, end) is not None


def line_end(text: bytes, at: int) -> int:
    """Return where the line of a place ends, before its line ending."""
    end = text.find(b"\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1 : end] == b"\r" else end
