"""Names in SCIP symbols, which an occurrence of the symbol must spell."""

import re

_LAST = re.compile(r"(?:`(?P<quoted>(?:[^`]|``)+)`|(?P<simple>[\w+$-]+))(?P<suffix>\([\w+$-]*\)\.|[#.:!/\])])$")
_ACCESSOR = re.compile(r"^<(?:get|set)>")


def name_of(symbol: str) -> str | None:
    """Return the last name of a symbol; None for modules, files and locals, which are not written by name."""
    found = None if symbol.startswith("local ") else _LAST.search(symbol)
    if found is None or found["suffix"] in ("/", ":"):
        return None
    name = found["quoted"].replace("``", "`") if found["quoted"] else found["simple"]
    name = _ACCESSOR.sub("", name)
    return None if name.startswith("<") else name


def is_local(symbol: str) -> bool:
    """Whether a symbol has a meaning only in its own document."""
    return symbol.startswith("local ")


def inside_module(symbol: str) -> str:
    """Return the part of a symbol within its module, which is the same for an installed copy."""
    return symbol.rpartition("/")[2]
