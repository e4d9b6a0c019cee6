"""Next steps, as tool calls for agents and as commands for people."""

import re

_TOOL = re.compile(r" \(([a-z]+_[a-z_]+(?: \w+=[^\s`)]+)?)\)$")


def command_instead_of_tool(followup: str) -> str:
    """A followup with the command that does it, in place of an agent's tool at its end."""
    return _TOOL.sub(r" (`cpl call \1`)", followup)
