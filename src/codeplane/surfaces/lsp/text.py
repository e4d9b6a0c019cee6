"""The text of a document and its edits, in lines and characters as the protocol counts them; imports nothing slow."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from codeplane.kernel.json import JsonValue

Encoding = Literal["utf-8", "utf-16", "utf-32"]
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
_LINE_END = re.compile(r"\r\n|\n|\r")


class BadEdit(Exception):
    """A change that is none: its range is no range."""


def apply_changes(text: str, changes: Sequence[JsonValue], encoding: Encoding) -> str:
    """Return a text after the changes of a notification, one after the other."""
    for change in changes:
        if not isinstance(change, Mapping) or not isinstance(new := change.get("text"), str):
            raise BadEdit("a change has no text")
        span = change.get("range")
        if span is None:
            text = new
            continue
        start, end = (_offset(text, _position(span, side), encoding) for side in ("start", "end"))
        text = text[:start] + new + text[max(start, end) :]
    return text


def is_whole(change: JsonValue) -> bool:
    """Whether a change sends the text as a whole."""
    return isinstance(change, Mapping) and change.get("range") is None


def _position(span: JsonValue, side: str) -> tuple[int, int]:
    place = span.get(side) if isinstance(span, Mapping) else None
    line, character = (place.get("line"), place.get("character")) if isinstance(place, Mapping) else (None, None)
    if not isinstance(line, int) or not isinstance(character, int) or line < 0 or character < 0:
        raise BadEdit("a range has no lines and characters")
    return line, character


def _offset(text: str, place: tuple[int, int], encoding: Encoding) -> int:
    """Return the offset of a place; what is beyond the text or a line is its end."""
    line, character = place
    start = 0
    if line:
        found = _line_start(text, line)
        if found is None:
            return len(text)
        start = found
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if (lone := text.find("\r", start, end)) >= 0:
        end = lone
    part = text[start:end]
    if encoding == "utf-32" or part.isascii():
        return start + min(character, len(part))
    size = 0
    for index, char in enumerate(part):
        if size >= character:
            return start + index
        size += len(char.encode("utf-8", "surrogatepass")) if encoding == "utf-8" else 1 + (char > "\uffff")
        if size > character:
            # Between the halves of a character is before it.
            return start + index
    return end


def _line_start(text: str, line: int) -> int | None:
    if "\r" not in text:
        at = -1
        for _ in range(line):
            at = text.find("\n", at + 1)
            if at < 0:
                return None
        return at + 1
    for number, match in enumerate(_LINE_END.finditer(text), 1):
        if number == line:
            return match.end()
    return None
