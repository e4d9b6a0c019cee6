"""YAML from a repository, refused before its nesting can exhaust the stack of those who compose it."""

import yaml

MAX_DEPTH = 40
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class TooDeep(ValueError):
    """Nested more deeply than anybody means to."""

    def __init__(self, line: int) -> None:
        super().__init__(f"nested too deeply at line {line}")
        self.line = line


def must_be_shallow(text: str) -> None:
    """Go through the events, which are read without recursion; raises TooDeep with the line."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise TooDeep(event.start_mark.line + 1 if event.start_mark else 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
