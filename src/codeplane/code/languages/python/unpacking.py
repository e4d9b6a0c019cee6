"""Assignments of Python that give several names a value each: `a, b = x, Y()`."""

import re

_TARGETS = re.compile(rb"[ \t]*([^\W\d][\w.]*(?:[ \t]*,[ \t]*[^\W\d][\w.]*)+)[ \t]*=(?!=)")
_NESTING = re.compile(rb"[()\[\]{},\n#\"'\\*:=]")
_FAR = 2_000


def with_own_value(text: bytes, name_end: int) -> bytes | None:
    """The text with the value of one of several names right behind it, all at the places where it was; None if not one.

    Everything between the name and its value becomes blank, so that what reads `name = value` reads this as well.
    """
    line = text.rfind(b"\n", 0, name_end) + 1
    targets = _TARGETS.match(text, line, line + _FAR)
    if targets is None or not targets.start(1) < name_end <= targets.end(1):
        return None
    values = _values(text, targets.end())
    place = text.count(b",", targets.start(1), name_end)
    if values is None or len(values) != targets[1].count(b",") + 1:
        return None
    start, end = values[place]
    gap = start - name_end - 1
    return b"".join((text[:name_end], b" " * gap, b"=", text[start:end], b"\n", text[end + 1 :]))


def _values(text: bytes, at: int) -> list[tuple[int, int]] | None:
    """The values of an assignment from where they begin, as spans; None for what is not plain."""
    spans: list[tuple[int, int]] = []
    start, depth, end = at, 0, min(len(text), at + _FAR)
    for found in _NESTING.finditer(text, at, end):
        sign = found[0]
        if sign in (b"(", b"[", b"{"):
            depth += 1
        elif sign in (b")", b"]", b"}"):
            depth -= 1
            if depth < 0:
                return None
        elif sign in (b'"', b"'", b"\\", b"#") or (depth == 0 and sign in (b"*", b":", b"=")):
            return None
        elif depth == 0:
            spans.append((start, found.start()))
            start = found.end()
            if sign == b"\n":
                return spans
    return [*spans, (start, end)] if depth == 0 and end == len(text) else None
