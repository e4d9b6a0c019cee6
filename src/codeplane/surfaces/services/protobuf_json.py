"""JSON that protobuf can hold: large numbers as text, and no lone surrogates."""

from collections.abc import Mapping, Sequence

from codeplane.kernel.json import JsonValue, is_text

# Beyond it, a double skips whole numbers.
MAX_EXACT = 2**53


def to_protobuf_json(value: JsonValue) -> JsonValue:
    """Return the value with every number that `google.protobuf.Struct` would round as a string."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -MAX_EXACT <= value <= MAX_EXACT else str(value)
    if isinstance(value, str):
        return escape_surrogates(value)
    if isinstance(value, float):
        return value
    if isinstance(value, Mapping):
        return {escape_surrogates(name): to_protobuf_json(inner) for name, inner in value.items()}
    assert isinstance(value, Sequence)
    return [to_protobuf_json(inner) for inner in value]


def escape_surrogates(text: str) -> str:
    """Return the text with lone surrogates, as file names may contain, escaped."""
    return text if is_text(text) else text.encode("utf-8", "backslashreplace").decode()
