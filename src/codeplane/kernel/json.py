"""JSON values as types, and the one way they become text."""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"
JsonObject: TypeAlias = dict[str, JsonValue]

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_encode_sorted = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, sort_keys=True).encode


def dumps(value: JsonValue) -> str:
    """Compact JSON."""
    return _encode(value)


def canonical(value: JsonValue) -> bytes:
    """JSON with sorted keys: equal values give equal bytes, fit for hashing."""
    return _encode_sorted(value).encode()
