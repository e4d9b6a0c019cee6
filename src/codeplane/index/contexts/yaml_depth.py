"""A depth limit for YAML from a repository, so that composing it cannot exhaust the stack."""

import yaml

MAX_DEPTH = 40
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class TooDeep(ValueError):
    """YAML nested beyond the limit."""

    def __init__(self, line: int) -> None:
        super().__init__(f"nested too deeply at line {line}")
        self.line = line


def check_depth(text: str) -> None:
    """Raise TooDeep with the line if a text nests too deeply; events are read without recursion."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise TooDeep(event.start_mark.line + 1 if event.start_mark else 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
