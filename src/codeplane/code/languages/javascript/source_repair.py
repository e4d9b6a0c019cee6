"""Changes that let the grammar of TypeScript read what it does not know; every byte keeps its place."""

import re
from functools import cache

# `interface Box<in out T>`: the words say how a parameter varies, and name nothing.
_VARIANCE = re.compile(rb"((?:[<,]|\*/)\s*(?:const\s+)?)(in\s+out|in|out)(?=\s+[A-Za-z_$][\w$]*\s*(?:extends\b|[,>=]))")
# Members of a type need no separator but the line's end, also before what could continue the line above.
_CONTINUING = re.compile(rb"\n[ \t]*[(<\[]")
_TYPE_END = re.compile(rb"[\w$>\]})\"'`]\s*$")


def blank_variance(text: bytes) -> bytes:
    """The text without the words that say how type parameters vary."""
    if not _candidates().search(text):
        return text
    return _VARIANCE.sub(lambda match: match[1] + b" " * len(match[2]), text)


@cache
def _candidates() -> re.Pattern[bytes]:
    """Finds every place that has to be examined, ten times as fast as examining it; loaded on first use."""
    import re2  # type: ignore[import-untyped]  # the package ships no types

    pattern: re.Pattern[bytes] = re2.compile(rb"(?:[<,]|\*/)\s*(?:const\s+)?(?:in|out)\s+[A-Za-z_$]")
    return pattern


def separate_members(text: bytes) -> bytes | None:
    """The text with a semicolon where the end of a line separates members, or None where there is no such place."""
    separated = bytearray(text)
    for match in _CONTINUING.finditer(text):
        end = _end_of_code_above(text, match.start())
        line = text[text.rfind(b"\n", 0, end) + 1 : end] if end > 0 else b""
        # The end of a line is also that of a comment on it.
        if b"//" not in line and _TYPE_END.search(line[-80:]):
            separated[end] = ord(";")
    return bytes(separated) if separated != text else None


def _end_of_code_above(text: bytes, end: int) -> int:
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
