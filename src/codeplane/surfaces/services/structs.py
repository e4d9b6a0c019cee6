"""Conversion between `google.protobuf.Struct` and JSON."""

from collections.abc import Mapping
from typing import cast

from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct, Value

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.protobuf_json import MAX_EXACT, to_protobuf_json


def to_struct(value: Mapping[str, JsonValue]) -> Struct:
    """Convert a JSON object to a Struct; numbers that a double would round become strings."""
    return ParseDict(cast(JsonObject, to_protobuf_json(value)), Struct())


def from_struct(message: Struct) -> JsonObject:
    """Convert a Struct to a JSON object, with integral numbers as integers."""
    return {name: _to_json(value) for name, value in message.fields.items()}


def _to_json(value: Value) -> JsonValue:
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) <= MAX_EXACT else number
    if kind == "struct_value":
        return from_struct(value.struct_value)
    if kind == "list_value":
        return [_to_json(inner) for inner in value.list_value.values]
    if kind == "string_value":
        return value.string_value
    return value.bool_value if kind == "bool_value" else None
