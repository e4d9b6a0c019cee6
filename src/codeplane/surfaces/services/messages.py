"""Conversion between proto messages and JSON, by field name."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct, Value
from google.protobuf.timestamp_pb2 import Timestamp

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.protobuf_json import MAX_EXACT, escape_surrogates, to_protobuf_json

M = TypeVar("M", bound=Message)

_WHOLE = {
    FieldDescriptor.CPPTYPE_INT32: range(-(2**31), 2**31),
    FieldDescriptor.CPPTYPE_INT64: range(-(2**63), 2**63),
    FieldDescriptor.CPPTYPE_UINT32: range(2**32),
    FieldDescriptor.CPPTYPE_UINT64: range(2**64),
}


def message_arguments(message: Message) -> JsonObject:
    """Return the fields that are set, by their proto names."""
    return {field.name: _argument(field, value) for field, value in message.ListFields()}


def fill_message(kind: type[M], values: Mapping[str, JsonValue]) -> M:
    """Fill a message from values by name; unknown names and values of a wrong type are left out."""
    message = kind()
    for found in kind.DESCRIPTOR.fields:
        field = cast(FieldDescriptor, found)
        value = values.get(field.name)
        if value is None and field.message_type is Timestamp.DESCRIPTOR:
            value = values.get(f"{field.name}_ns", values.get(f"{field.name.removesuffix('_at')}_ns"))
        if value is not None:
            _set(message, field, value)
    return message


def to_struct(value: Mapping[str, JsonValue]) -> Struct:
    """Convert a JSON object to a Struct; numbers that a double would round become strings."""
    return ParseDict(cast(JsonObject, to_protobuf_json(value)), Struct())


def from_struct(message: Struct) -> JsonObject:
    """Convert a Struct to a JSON object, with integral numbers as integers."""
    return {name: _plain(value) for name, value in message.fields.items()}


def _plain(value: Value) -> JsonValue:
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) <= MAX_EXACT else number
    if kind == "struct_value":
        return from_struct(value.struct_value)
    if kind == "list_value":
        return [_plain(inner) for inner in value.list_value.values]
    if kind == "string_value":
        return value.string_value
    return value.bool_value if kind == "bool_value" else None


def _argument(field: FieldDescriptor, value: object) -> JsonValue:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return dict(cast(Mapping[str, JsonValue], value))
    if field.is_repeated:
        return [_one_argument(field, item) for item in cast(Iterable[object], value)]
    return _one_argument(field, value)


def _one_argument(field: FieldDescriptor, value: object) -> JsonValue:
    if isinstance(value, Timestamp):
        return rfc3339(value.ToNanoseconds())
    if isinstance(value, Struct):
        return from_struct(value)
    if isinstance(value, Message):
        return message_arguments(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(cast(int, value))
        return known.name if known is not None else cast(int, value)
    return cast(JsonValue, value)


def _set(message: Message, field: FieldDescriptor, value: JsonValue) -> None:
    if field.is_repeated:
        target = getattr(message, field.name)
        for item in value if isinstance(value, Sequence) and not isinstance(value, str) else ():
            converted = _convert(field, item)
            if converted is not None:
                target.append(converted)
        return
    converted = _convert(field, value)
    if isinstance(converted, Message):
        getattr(message, field.name).CopyFrom(converted)
    elif converted is not None:
        setattr(message, field.name, converted)


def _convert(field: FieldDescriptor, value: JsonValue) -> object:
    """Convert a value to the field's type, or return None."""
    if field.message_type is not None:
        return _message(field, value)
    if field.enum_type is not None:
        return _enum(field.enum_type, str(value).upper())
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return value if isinstance(value, bool) else None
    if field.cpp_type in _WHOLE:
        return value if isinstance(value, int) and type(value) is int and value in _WHOLE[field.cpp_type] else None
    if field.type == FieldDescriptor.TYPE_BYTES:
        return escape_surrogates(value).encode() if isinstance(value, str) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return escape_surrogates("; ".join(map(str, value)))
    return escape_surrogates(str(value))


def _enum(kind: EnumDescriptor, name: str) -> int | None:
    """Return the number of an enum name, with or without its prefix."""
    named = kind.values_by_name.get(name)
    if named is None:
        ending = [member for member in kind.values if member.name.endswith(f"_{name}")]
        named = ending[0] if len(ending) == 1 else None
    return named.number if named is not None else None


def _message(field: FieldDescriptor, value: JsonValue) -> Message | None:
    if field.message_type is Timestamp.DESCRIPTOR:
        return _timestamp(value)
    if field.message_type is Struct.DESCRIPTOR:
        return to_struct(value if isinstance(value, Mapping) else {"text": value})
    if not isinstance(value, Mapping):
        return None
    return fill_message(GetMessageClass(cast(Descriptor, field.message_type)), value)


def _timestamp(value: JsonValue) -> Timestamp | None:
    timestamp = Timestamp()
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            timestamp.FromNanoseconds(value)
        except ValueError:
            return None
        return timestamp
    try:
        timestamp.FromJsonString(str(value))
    except ValueError:
        try:
            at = datetime.fromisoformat(str(value))
        except ValueError:
            return None
        timestamp.FromDatetime(at if at.tzinfo else at.replace(tzinfo=UTC))
    return timestamp
