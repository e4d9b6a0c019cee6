"""A message with a field of every type, made at run time: no service of ours has all of them."""

from google.protobuf import descriptor_pool, timestamp_pb2
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import DESCRIPTOR as STRUCT

_TYPES = {
    "a_double": FieldDescriptorProto.TYPE_DOUBLE,
    "a_float": FieldDescriptorProto.TYPE_FLOAT,
    "an_int32": FieldDescriptorProto.TYPE_INT32,
    "a_uint64": FieldDescriptorProto.TYPE_UINT64,
    "a_bool": FieldDescriptorProto.TYPE_BOOL,
    "a_string": FieldDescriptorProto.TYPE_STRING,
    "some_bytes": FieldDescriptorProto.TYPE_BYTES,
}
_MAPS = {
    "numbers": (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_DOUBLE, ""),
    "by_number": (FieldDescriptorProto.TYPE_INT64, FieldDescriptorProto.TYPE_STRING, ""),
    "by_flag": (FieldDescriptorProto.TYPE_BOOL, FieldDescriptorProto.TYPE_BYTES, ""),
    "nested": (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_MESSAGE, ".every.Every"),
    "colours": (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_ENUM, ".every.Colour"),
    "structs": (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_MESSAGE, ".google.protobuf.Struct"),
}
_OTHERS = {
    "colour": (FieldDescriptorProto.TYPE_ENUM, ".every.Colour"),
    "inner": (FieldDescriptorProto.TYPE_MESSAGE, ".every.Every"),
    "at": (FieldDescriptorProto.TYPE_MESSAGE, ".google.protobuf.Timestamp"),
    "facts": (FieldDescriptorProto.TYPE_MESSAGE, ".google.protobuf.Struct"),
}


def every_type() -> type[Message]:
    """Return the class of the message `Every`; `many_X` is a list of what `X` is."""
    every = DescriptorProto(name="Every")
    number = 0
    for repeated in (False, True):
        label = FieldDescriptorProto.LABEL_REPEATED if repeated else FieldDescriptorProto.LABEL_OPTIONAL
        for name, (kind, type_name) in {**{name: (kind, "") for name, kind in _TYPES.items()}, **_OTHERS}.items():
            number += 1
            every.field.add(
                name=f"many_{name}" if repeated else name,
                number=number,
                type=kind,
                type_name=type_name or None,
                label=label,
            )
    for name, (key, value, type_name) in _MAPS.items():
        number += 1
        entry = every.nested_type.add(name="".join(part.title() for part in name.split("_")) + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=key, label=FieldDescriptorProto.LABEL_OPTIONAL)
        entry.field.add(
            name="value", number=2, type=value, type_name=type_name or None, label=FieldDescriptorProto.LABEL_OPTIONAL
        )
        every.field.add(
            name=name,
            number=number,
            type=FieldDescriptorProto.TYPE_MESSAGE,
            type_name=f".every.Every.{entry.name}",
            label=FieldDescriptorProto.LABEL_REPEATED,
        )
    colour = EnumDescriptorProto(name="Colour")
    for value_number, value_name in enumerate(("COLOUR_UNSPECIFIED", "COLOUR_RED", "COLOUR_GREEN")):
        colour.value.add(name=value_name, number=value_number)
    file = FileDescriptorProto(
        name="every.proto",
        package="every",
        syntax="proto3",
        dependency=[STRUCT.name, timestamp_pb2.DESCRIPTOR.name],
        message_type=[every],
        enum_type=[colour],
    )
    # The pool that everything generated is in, so that Struct and Timestamp are those.
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName("every.Every"))
