"""Names of outside tools as operations: cleaned, bounded, and never two alike."""

import re
from collections import Counter
from collections.abc import Iterable

from codeplane.kernel.declared_operation import FAMILY
from codeplane.kernel.ids import digest

_UNFIT = re.compile(r"[^A-Za-z0-9_-]+")
# Models take tool names of at most 64 characters.
_MAX_TOOL_NAME = 64
_HASH_DIGITS = 8


def operation_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """The operation of each tool by the server's own name for it; a hash distinguishes equal ones."""
    unique = list(dict.fromkeys(tools))
    clean = {tool: _clean(server, tool) for tool in unique}
    counts = Counter(map(_folded, clean.values()))
    return {
        tool: f"{FAMILY}.{server}.{name if counts[_folded(name)] == 1 else _hashed(server, name, tool)}"
        for tool, name in clean.items()
    }


def _folded(name: str) -> str:
    """The name without what a reader overlooks."""
    return name.replace("-", "_").lower()


def _clean(server: str, tool: str) -> str:
    name = _UNFIT.sub("_", tool).strip("_-")
    if not name:
        return f"tool_{digest(tool.encode('utf-8', 'surrogatepass'))[:_HASH_DIGITS]}"
    return name if len(name) <= _room(server) else _hashed(server, name, tool)


def _hashed(server: str, name: str, tool: str) -> str:
    """The name with a hash of what the server calls it, which stays the same however its tools are ordered."""
    kept = name[: _room(server) - _HASH_DIGITS - 1].rstrip("_-")
    return f"{kept}_{digest(tool.encode('utf-8', 'surrogatepass'))[:_HASH_DIGITS]}"


def _room(server: str) -> int:
    return _MAX_TOOL_NAME - len(f"{FAMILY}_{server}_")
