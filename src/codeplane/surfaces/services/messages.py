"""Between messages and JSON: a request's fields as arguments, a result's values as the fields of the same names."""

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
from codeplane.surfaces.services.fitting import EXACT, fitting, fitting_text

M = TypeVar("M", bound=Message)

_WHOLE = {
    FieldDescriptor.CPPTYPE_INT32: range(-(2**31), 2**31),
    FieldDescriptor.CPPTYPE_INT64: range(-(2**63), 2**63),
    FieldDescriptor.CPPTYPE_UINT32: range(2**32),
    FieldDescriptor.CPPTYPE_UINT64: range(2**64),
}


def arguments_of(message: Message) -> JsonObject:
    """The fields that were set, by their names in the proto."""
    return {field.name: _argument(field, value) for field, value in message.ListFields()}


def filled(kind: type[M], values: Mapping[str, JsonValue]) -> M:
    """A message of the values whose names it has; what it has no field for stays out, what does not fit stays unset."""
    message = kind()
    for found in kind.DESCRIPTOR.fields:
        field = cast(FieldDescriptor, found)
        value = values.get(field.name)
        if value is None and field.message_type is Timestamp.DESCRIPTOR:
            value = values.get(f"{field.name}_ns", values.get(f"{field.name.removesuffix('_at')}_ns"))
        if value is not None:
            _set(message, field, value)
    return message


def struct(value: Mapping[str, JsonValue]) -> Struct:
    """A JSON object as a message; numbers that a double would round are strings in it."""
    return ParseDict(cast(JsonObject, fitting(value)), Struct())


def plain(message: Struct) -> JsonObject:
    """The JSON object that a Struct is; whole numbers are whole, so that the same call is the same in every form."""
    return {name: _plain(value) for name, value in message.fields.items()}


def _plain(value: Value) -> JsonValue:
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) <= EXACT else number
    if kind == "struct_value":
        return plain(value.struct_value)
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
        return plain(value)
    if isinstance(value, Message):
        return arguments_of(value)
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(cast(int, value))
        return known.name if known is not None else cast(int, value)
    return cast(JsonValue, value)


def _set(message: Message, field: FieldDescriptor, value: JsonValue) -> None:
    if field.is_repeated:
        target = getattr(message, field.name)
        for item in value if isinstance(value, Sequence) and not isinstance(value, str) else ():
            found = _converted(field, item)
            if found is not None:
                target.append(found)
        return
    found = _converted(field, value)
    if isinstance(found, Message):
        getattr(message, field.name).CopyFrom(found)
    elif found is not None:
        setattr(message, field.name, found)


def _converted(field: FieldDescriptor, value: JsonValue) -> object:
    """The value as the field takes it, or None when it does not fit."""
    if field.message_type is not None:
        return _message(field, value)
    if field.enum_type is not None:
        return _enum(field.enum_type, str(value).upper())
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return value if isinstance(value, bool) else None
    if field.cpp_type in _WHOLE:
        return value if isinstance(value, int) and type(value) is int and value in _WHOLE[field.cpp_type] else None
    if field.type == FieldDescriptor.TYPE_BYTES:
        return fitting_text(value).encode() if isinstance(value, str) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return fitting_text("; ".join(map(str, value)))
    return fitting_text(str(value))


def _enum(kind: EnumDescriptor, name: str) -> int | None:
    """The number of a name, with or without the prefix that some enums have."""
    named = kind.values_by_name.get(name)
    if named is None:
        ending = [found for found in kind.values if found.name.endswith(f"_{name}")]
        named = ending[0] if len(ending) == 1 else None
    return named.number if named is not None else None


def _message(field: FieldDescriptor, value: JsonValue) -> Message | None:
    if field.message_type is Timestamp.DESCRIPTOR:
        return _timestamp(value)
    if field.message_type is Struct.DESCRIPTOR:
        return struct(value if isinstance(value, Mapping) else {"text": value})
    if not isinstance(value, Mapping):
        return None
    return filled(GetMessageClass(cast(Descriptor, field.message_type)), value)


def _timestamp(value: JsonValue) -> Timestamp | None:
    found = Timestamp()
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            found.FromNanoseconds(value)
        except ValueError:
            return None
        return found
    try:
        found.FromJsonString(str(value))
    except ValueError:
        try:
            at = datetime.fromisoformat(str(value))
        except ValueError:
            return None
        found.FromDatetime(at if at.tzinfo else at.replace(tzinfo=UTC))
    return found
