"""TypeScript as its grammar reads it: the same bytes at the same places, without what the grammar does not know."""

import re
from functools import cache

_SIGHTED = frozenset({"typescript", "tsx"})
# `interface Box<in out T>`: the words say how a parameter varies, and name nothing.
_VARIANCE = re.compile(rb"((?:[<,]|\*/)\s*(?:const\s+)?)(in\s+out|in|out)(?=\s+[A-Za-z_$][\w$]*\s*(?:extends\b|[,>=]))")
# Members of a type need no separator but the line's end, also before what could continue the line above.
_CONTINUING = re.compile(rb"\n[ \t]*[(<\[]")
_TYPE_END = re.compile(rb"[\w$>\]})\"'`]\s*$")


def readable(language: str, text: bytes) -> bytes:
    """A text for the parser, as long as the text itself; the text where there is nothing to leave out."""
    if language not in _SIGHTED or not _varying().search(text):
        return text
    return _VARIANCE.sub(lambda match: match[1] + b" " * len(match[2]), text)


@cache
def _varying() -> re.Pattern[bytes]:
    """Finds every place that has to be looked at, ten times as fast as looking there; loaded by who needs it."""
    import re2  # type: ignore[import-untyped]  # the package ships no types

    found: re.Pattern[bytes] = re2.compile(rb"(?:[<,]|\*/)\s*(?:const\s+)?(?:in|out)\s+[A-Za-z_$]")
    return found


def separated(language: str, text: bytes) -> bytes | None:
    """The same with separators where ends of lines may stand for them, or None where there are none."""
    if language not in _SIGHTED:
        return None
    found = bytearray(text)
    for match in _CONTINUING.finditer(text):
        end = _code_above(text, match.start())
        line = text[text.rfind(b"\n", 0, end) + 1 : end] if end > 0 else b""
        # The end of a line is also that of a comment on it.
        if b"//" not in line and _TYPE_END.search(line[-80:]):
            found[end] = ord(";")
    return bytes(found) if found != text else None


def _code_above(text: bytes, end: int) -> int:
    """The end of the nearest line above that is not empty and not a comment, or -1."""
    while end > 0:
        start = text.rfind(b"\n", 0, end) + 1
        line = text[start:end].strip()
        if line.endswith(b"*/"):
            opened = text.rfind(b"/*", 0, end)
            start = text.rfind(b"\n", 0, max(opened, 0)) + 1
            if opened < 0 or text[start:opened].strip():
                return -1
        elif line and not line.startswith(b"//"):
            return end
        end = start - 1
    return -1
