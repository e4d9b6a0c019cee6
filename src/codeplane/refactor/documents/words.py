"""How much a name says by itself: whether it could be a word that somebody just wrote."""

import re
from functools import cache
from importlib.resources import files
from typing import Literal

Word = Literal["distinctive", "ordinary", "common"]

_SHORT = 3
# A capital after a small letter, an underscore or a digit inside: nobody writes English that way.
_JOINED = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]|\w_+\w|^_+\w|\w\d|\d\w|[$#@]")


def word(name: str) -> Word:
    """Whether a name is plainly a name, an ordinary word, or one that is everywhere."""
    if name.casefold() in _common() or len(name) <= _SHORT:
        return "common"
    return "distinctive" if _JOINED.search(name) else "ordinary"


@cache
def _common() -> frozenset[str]:
    listed = files("codeplane.refactor.documents").joinpath("common_words.txt")
    return frozenset(listed.read_text("utf-8").split())
