"""The names inside SCIP symbols: what a place that is the symbol must spell."""

import re

_LAST = re.compile(r"(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<simple>[\w+$-]+))(?P<suffix>\([\w+$-]*\)\.|[#.:!/\])])$")
_ACCESSOR = re.compile(r"^<(?:get|set)>")


def name_of(symbol: str) -> str | None:
    """The name a symbol ends in; None for what is not written by its name: modules, files and local numbers."""
    found = None if symbol.startswith("local ") else _LAST.search(symbol)
    if found is None or found["suffix"] in ("/", ":"):
        return None
    name = found["quoted"].replace("``", "`") if found["quoted"] else found["simple"]
    name = _ACCESSOR.sub("", name)
    return None if name.startswith("<") else name


def is_local(symbol: str) -> bool:
    """Whether a symbol means something in its own document alone."""
    return symbol.startswith("local ")


def inside_module(symbol: str) -> str:
    """What a symbol is within its module: the same for a thing and for an installed copy of it."""
    return symbol.rpartition("/")[2]
