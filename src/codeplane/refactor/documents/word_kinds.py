"""Kinds of names: plainly an identifier, an ordinary word, or a very common one."""

import re
from functools import cache
from importlib.resources import files
from typing import Literal

WordKind = Literal["distinctive", "ordinary", "common"]

_SHORT = 3
# A capital after a small letter, an inner underscore or a digit: no English word looks like that.
_JOINED = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]|\w_+\w|^_+\w|\w\d|\d\w|[$#@]")


def word_kind(name: str) -> WordKind:
    """Return whether a name is plainly an identifier, an ordinary word, or a very common one."""
    if name.casefold() in _common() or len(name) <= _SHORT:
        return "common"
    return "distinctive" if _JOINED.search(name) else "ordinary"


@cache
def _common() -> frozenset[str]:
    listed = files("codeplane.refactor.documents").joinpath("common_words.txt")
    return frozenset(listed.read_text("utf-8").split())
