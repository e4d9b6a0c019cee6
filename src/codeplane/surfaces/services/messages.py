"""Conversion between proto messages and JSON, by field name.

Bytes are base64 in JSON, as in protobuf's own JSON form; keys of maps are text.
"""

import math
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from struct import Struct as Packed
from typing import TypeVar, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from codeplane.kernel.clock import rfc3339
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.services.protobuf_json import escape_surrogates
from codeplane.surfaces.services.structs import from_struct, to_struct

M = TypeVar("M", bound=Message)

_WHOLE = {
    FieldDescriptor.CPPTYPE_INT32: range(-(2**31), 2**31),
    FieldDescriptor.CPPTYPE_INT64: range(-(2**63), 2**63),
    FieldDescriptor.CPPTYPE_UINT32: range(2**32),
    FieldDescriptor.CPPTYPE_UINT64: range(2**64),
}
_FRACTIONS = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
_FLOAT = Packed("f")
_MAX_FLOAT = 3.4028234663852886e38
_FLAGS = {"true": True, "false": False}


def message_arguments(message: Message) -> JsonObject:
    """Return the fields that are set, by their proto names; InvalidArgument for what JSON cannot hold."""
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


def _argument(field: FieldDescriptor, value: object) -> JsonValue:
    if (entry := _map_entry(field)) is not None:
        inner = entry.fields_by_name["value"]
        items = cast(Mapping[object, object], value).items()
        return {_key_text(key): _one_argument(inner, item) for key, item in items}
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
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(cast(int, value))
        return known.name if known is not None else cast(int, value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgument(f"{field.name} is {value}", hint="send a finite number")
        return _shortest(value) if field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT else value
    return cast(JsonValue, value)


def _shortest(value: float) -> float:
    """Return the shortest number that is the same float; widened to a double it has digits that were never sent."""
    shorter = (float(f"{value:.{digits}g}") for digits in range(6, 9))
    return next((number for number in shorter if _FLOAT.unpack(_FLOAT.pack(number))[0] == value), value)


def _key_text(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _map_entry(field: FieldDescriptor) -> Descriptor | None:
    """The message of a map's entries; None for other fields."""
    kind = field.message_type
    return kind if kind is not None and kind.GetOptions().map_entry else None


def _set(message: Message, field: FieldDescriptor, value: JsonValue) -> None:
    if (entry := _map_entry(field)) is not None:
        _fill_map(getattr(message, field.name), entry, value)
        return
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


def _fill_map(target: MutableMapping[object, object], entry: Descriptor, value: JsonValue) -> None:
    key_field, value_field = entry.fields_by_name["key"], entry.fields_by_name["value"]
    for name, item in value.items() if isinstance(value, Mapping) else ():
        key, converted = _map_key(key_field, name), _convert(value_field, item)
        if key is None or converted is None:
            continue
        if isinstance(converted, Message):
            # Messages in maps are made by looking them up.
            cast(Message, target[key]).CopyFrom(converted)
        else:
            target[key] = converted


def _map_key(field: FieldDescriptor, name: str) -> object:
    if field.cpp_type in _WHOLE:
        try:
            return _convert(field, int(name))
        except ValueError:
            return None
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _FLAGS.get(name)
    return escape_surrogates(name)


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
    if field.cpp_type in _FRACTIONS:
        return _fraction(field, value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _bytes(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return escape_surrogates("; ".join(map(str, value)))
    return escape_surrogates(str(value))


def _fraction(field: FieldDescriptor, value: JsonValue) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if field.cpp_type == FieldDescriptor.CPPTYPE_FLOAT and abs(number) > _MAX_FLOAT:
        return None
    return number if math.isfinite(number) else None


def _bytes(value: JsonValue) -> bytes | None:
    try:
        return b64decode(value, validate=True) if isinstance(value, str) else None
    except (Base64Error, ValueError):
        return None


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
