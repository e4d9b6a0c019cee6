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
_encode_sorted = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, sort_keys=True).encode


def dumps(value: JsonValue) -> str:
    """Compact JSON."""
    return _encode(value)


def canonical(value: JsonValue) -> bytes:
    """JSON with sorted keys: equal values give equal bytes, fit for hashing."""
    return _encode_sorted(value).encode()
