"""Sources in which every place of one symbol is marked: `«name»`, and its definition `«*name»`."""

import re

_MARK = re.compile(r"«(\*?)(\w+[?!]?)»")


def plain(files: dict[str, str]) -> dict[str, str]:
    """The sources without their marks."""
    return {path: _MARK.sub(r"\2", text) for path, text in files.items()}


def renamed(files: dict[str, str], new: str) -> dict[str, str]:
    """The sources with another name at every mark."""
    return {path: _MARK.sub(new, text) for path, text in files.items()}


def definition(files: dict[str, str]) -> str:
    """Where the definition is, as operations take it."""
    for path, text in files.items():
        start = text.find("«*")
        if start >= 0:
            above = _MARK.sub(r"\2", text[:start])
            return f"{path}:{above.count(chr(10)) + 1}:{len(above.rpartition(chr(10))[2]) + 1}"
    raise AssertionError("no definition is marked")
