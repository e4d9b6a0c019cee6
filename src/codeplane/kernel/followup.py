"""What to do next, as agents and as people do it."""

import re

_TOOL = re.compile(r" \(([a-z]+_[a-z_]+(?: \w+=[^\s`)]+)?)\)$")


def command_instead_of_tool(followup: str) -> str:
    """A followup with the command that does it, in place of an agent's tool at its end."""
    return _TOOL.sub(r" (`cpl call \1`)", followup)
