"""Answers on a terminal: characters in them that it would obey, or that reverse text, are escaped."""

import sys

from codeplane.kernel.json import JsonObject, JsonValue

_KEPT = "\n\t"
# Marks, embeddings, overrides and isolates of writing directions, which show text in another order than it has.
_BIDIRECTIONAL = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in _KEPT}
_ESCAPES |= {code: f"\\u{code:04x}" for code in _BIDIRECTIONAL}


def escape_controls(text: str) -> str:
    """Return a text with control characters and changes of direction escaped, except for line ends and tabs."""
    return text.translate(_ESCAPES)


def for_terminal(answer: JsonObject) -> JsonObject:
    """Return an answer as it may be printed: unchanged for a file or pipe, escaped for a terminal."""
    return {name: _escape_value(value) for name, value in answer.items()} if sys.stdout.isatty() else answer


def _escape_value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return escape_controls(value)
    if isinstance(value, list):
        return [_escape_value(item) for item in value]
    if isinstance(value, dict):
        return {escape_controls(name): _escape_value(item) for name, item in value.items()}
    return value
