"""Names of tools as skills write them, which are mostly those of other assistants."""

from collections.abc import Iterable

# What the tools of well-known assistants are here.
_HERE = {
    "read": ("read_files",),
    "view": ("read_files",),
    "grep": ("search",),
    "glob": ("search", "map_repo"),
    "ls": ("map_repo",),
    "edit": ("write_files",),
    "multiedit": ("write_files",),
    "write": ("write_files",),
    "bash": ("run_bash",),
    "shell": ("run_bash",),
    "webfetch": ("web_open",),
    "websearch": ("web_search",),
}
_OURS = "mcp__codeplane__"


def narrow_tools(allowed: Iterable[str], offered: Iterable[str]) -> frozenset[str]:
    """The tools among those offered that a skill names.

    A name with a pattern, as in Bash(git:*), allows part of a tool. That part cannot be separated here, so it
    allows nothing.
    """
    there = frozenset(offered)
    named: set[str] = set()
    for word in allowed:
        name = word.removeprefix(_OURS).replace(".", "_")
        if "(" not in name:
            named |= {name, *_HERE.get(name.lower(), ())}
    return there & named
