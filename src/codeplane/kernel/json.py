"""JSON values as types, and the one way they become text."""

import json
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    JsonValue: TypeAlias = str | int | float | bool | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
    JsonObject: TypeAlias = dict[str, JsonValue]
else:
    # Pydantic cannot resolve an alias that names itself; checkers see the exact type, models take what they get.
    JsonValue = object
    JsonObject = dict[str, object]

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_encode_ascii = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_encode_sorted = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, sort_keys=True).encode


def dumps(value: JsonValue) -> str:
    """Compact JSON that UTF-8 can always hold: half a character, as file names may have, is escaped."""
    text = _encode(value)
    return text if is_text(text) else _encode_ascii(value)


def is_text(text: str) -> bool:
    """Whether UTF-8 can hold it."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical(value: JsonValue) -> bytes:
    """JSON with sorted keys: equal values give equal bytes, fit for hashing."""
    return _encode_sorted(value).encode()
