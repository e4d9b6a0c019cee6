"""Lets a grammar read the arguments of macros as code; every byte keeps its place."""

import re
from collections.abc import Set

_OPENING = re.compile(rb"!\s*([(\[])")
_NAME = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*\Z")
_LONGEST = 40
# White space that stands for a sign, so that it differs from other white space.
_SIGN = b"\x0c"


def open_arguments(text: bytes, names: Set[str]) -> bytes:
    """Return the text with `name!(…)` of these macros as the call `name (…)`, and `name![…]` as the list `[…]`."""
    opened: bytearray | None = None
    for match in _OPENING.finditer(text):
        at = match.start()
        name = _NAME.search(text[max(0, at - _LONGEST) : at])
        if name is None or name[0].decode() not in names:
            continue
        start = at - len(name[0]) if match[1] == b"[" else at
        if text[start - 2 : start] == b"::" and start != at:
            continue
        opened = bytearray(text) if opened is None else opened
        opened[start : at + 1] = _SIGN * (at + 1 - start)
    return bytes(opened) if opened is not None else text
