"""The messages of the streaming protocol have the names, numbers and types that its specification gives them."""

import json
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pool import Default

from codeplane._gen import (  # noqa: F401  # their descriptors
    approvals_pb2,
    auth_pb2,
    devices_pb2,
    events_pb2,
    system_pb2,
    threads_pb2,
    turns_pb2,
    types_pb2,
)
from tests.interaction.requirements import requirement

pytestmark = requirement("RPC-06")

CONTRACT = json.loads((Path(__file__).parent / "contract" / "streaming_protocol.json").read_text())
# Jobs and schedules are not served yet.
_LATER: tuple[str, ...] = (
    "Job",
    "Schedule",
    "ListJobs",
    "CreateJob",
    "GetJob",
    "CancelJob",
    "ListSchedules",
    "CreateSchedule",
)
_LATER += ("UpdateSchedule", "RunScheduleNow")
_LATER_NAMES = {f"{name}{end}" for name in _LATER for end in ("", "Request", "Response", "Status", "TriggerKind")}
_TYPES = {
    FieldDescriptor.TYPE_STRING: "string",
    FieldDescriptor.TYPE_BOOL: "bool",
    FieldDescriptor.TYPE_BYTES: "bytes",
    FieldDescriptor.TYPE_UINT64: "uint64",
    FieldDescriptor.TYPE_UINT32: "uint32",
    FieldDescriptor.TYPE_INT32: "int32",
}


def _type(field: FieldDescriptor) -> str:
    named: Descriptor | EnumDescriptor | None = field.message_type or field.enum_type
    name = _TYPES[field.type] if named is None else named.full_name.removeprefix("codeplane.v1.")
    return f"repeated {name}" if field.is_repeated else name


@pytest.mark.parametrize("name", [name for name in CONTRACT["messages"] if name not in _LATER_NAMES])
def test_a_message_has_its_fields(name: str) -> None:
    message = Default().FindMessageTypeByName(f"codeplane.v1.{name}")
    found = {field.name: [field.number, _type(field)] for field in message.fields}
    assert {field: found.get(field) for field in CONTRACT["messages"][name]} == CONTRACT["messages"][name]


@pytest.mark.parametrize("name", [name for name in CONTRACT["enums"] if name not in _LATER_NAMES])
def test_an_enum_has_its_values(name: str) -> None:
    values = Default().FindEnumTypeByName(f"codeplane.v1.{name}").values
    found = {value.name: value.number for value in values}
    assert {value: found.get(value) for value in CONTRACT["enums"][name]} == CONTRACT["enums"][name]


@pytest.mark.parametrize("name", [name for name in CONTRACT["services"] if not name.startswith(("Jobs", "Schedules"))])
def test_a_service_has_its_methods(name: str) -> None:
    methods = Default().FindServiceByName(f"codeplane.v1.{name}").methods
    found = {
        method.name: [
            method.input_type.name,
            f"stream {method.output_type.name}" if method.server_streaming else method.output_type.name,
        ]
        for method in methods
    }
    assert {method: found.get(method) for method in CONTRACT["services"][name]} == CONTRACT["services"][name]
