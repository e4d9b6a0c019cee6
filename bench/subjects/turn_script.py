"""What a turn of `bench.turns` is, for every system: five tools one after the other, each wanted by the model."""

TOOLS = 5


def wanted(answered: int) -> int | None:
    """What the model wants after so many answers of tools: the tool's argument, or nothing more."""
    return answered if answered < TOOLS else None
