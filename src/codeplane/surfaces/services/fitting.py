"""JSON that protobuf can hold: large numbers as text, the way its own JSON writes them, and only whole characters."""

from collections.abc import Mapping, Sequence

from codeplane.kernel.json import JsonValue, is_text

# Beyond it, a double skips whole numbers.
EXACT = 2**53


def fitting(value: JsonValue) -> JsonValue:
    """The value with every number that `google.protobuf.Struct` would round written out as a string."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -EXACT <= value <= EXACT else str(value)
    if isinstance(value, str):
        return fitting_text(value)
    if isinstance(value, float):
        return value
    if isinstance(value, Mapping):
        return {fitting_text(name): fitting(inner) for name, inner in value.items()}
    assert isinstance(value, Sequence)
    return [fitting(inner) for inner in value]


def fitting_text(text: str) -> str:
    """The text, with half characters, as file names may have, escaped."""
    return text if is_text(text) else text.encode("utf-8", "backslashreplace").decode()
