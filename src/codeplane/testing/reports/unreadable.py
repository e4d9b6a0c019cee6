"""A report that cannot be read."""


class Unreadable(ValueError):
    """What a runner wrote is not in its format, or more than is read."""
