"""The messages of the streaming protocol have the names, numbers and types that its specification gives them."""

import json
import re
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pool import Default

from codeplane._gen import (  # noqa: F401  # their descriptors
    approvals_pb2,
    auth_pb2,
    devices_pb2,
    events_pb2,
    jobs_pb2,
    schedules_pb2,
    system_pb2,
    threads_pb2,
    turns_pb2,
    types_pb2,
)
from tests.harness import Server
from tests.interaction.requirements import requirement

pytestmark = requirement("RPC-06")

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guides" / "contract.md"
CONTRACT = json.loads((Path(__file__).parent / "contract" / "streaming_protocol.json").read_text())
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


@pytest.mark.parametrize("name", CONTRACT["messages"])
def test_a_message_has_its_fields(name: str) -> None:
    message = Default().FindMessageTypeByName(f"codeplane.v1.{name}")
    found = {field.name: [field.number, _type(field)] for field in message.fields}
    assert {field: found.get(field) for field in CONTRACT["messages"][name]} == CONTRACT["messages"][name]


@pytest.mark.parametrize("name", CONTRACT["enums"])
def test_an_enum_has_its_values(name: str) -> None:
    values = Default().FindEnumTypeByName(f"codeplane.v1.{name}").values
    found = {value.name: value.number for value in values}
    assert {value: found.get(value) for value in CONTRACT["enums"][name]} == CONTRACT["enums"][name]


@pytest.mark.parametrize("name", CONTRACT["services"])
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


# The routes that the streaming protocol replaces, each with the method that does it instead.
_REPLACED = {
    "POST /v1/pairing/code": "AuthService/CreatePairingCode",
    "POST /v1/pairing/bind": "AuthService/BindPairingCode",
    "GET /v1/devices": "DevicesService/ListDevices",
    "POST /v1/devices/x/revoke": "DevicesService/RevokeDevice",
    "POST /v1/chat/threads": "ThreadsService/CreateThread",
    "POST /v1/chat/threads/x/messages": "TurnsService/SendTurn",
    "GET /v1/chat/threads/x/messages": "ThreadsService/ListThreadMessages",
    "GET /v1/approvals": "ApprovalsService/ListApprovals",
    "POST /v1/approvals/x/approve": "ApprovalsService/ApproveAction",
    "POST /v1/approvals/x/reject": "ApprovalsService/RejectAction",
    "GET /v1/jobs": "JobsService/ListJobs",
    "POST /v1/jobs": "JobsService/CreateJob",
    "GET /v1/jobs/x": "JobsService/GetJob",
    "POST /v1/jobs/x/cancel": "JobsService/CancelJob",
    "GET /v1/schedules": "SchedulesService/ListSchedules",
    "POST /v1/schedules": "SchedulesService/CreateSchedule",
    "PATCH /v1/schedules/x": "SchedulesService/UpdateSchedule",
    "POST /v1/schedules/x/run-now": "SchedulesService/RunScheduleNow",
    "GET /v1/settings/policy": "SystemService/GetPolicySummary",
    "GET /v1/audit": "SystemService/ListAudit",
    "GET /v1/notifications": "SystemService/ListNotifications",
}


def test_the_guide_names_every_replaced_route_and_its_method() -> None:
    rows = re.findall(r"^\| `(\w+ /v1/[^`]+)` \| `([^`]+)`", GUIDE.read_text(), re.MULTILINE)
    shown = {re.sub(r"\{\w+\}", "x", route): method.replace(".", "/") for route, method in rows}
    assert shown == _REPLACED


@pytest.mark.parametrize("route", _REPLACED)
def test_a_replaced_route_is_a_method_and_nothing_else(connect_server: Server, route: str) -> None:
    verb, path = route.split()
    response, _ = connect_server.request(verb, path, headers={"authorization": f"Bearer {connect_server.token}"})
    assert response.status in (404, 405)
    service, method = _REPLACED[route].split("/")
    assert method in {found.name for found in Default().FindServiceByName(f"codeplane.v1.{service}").methods}
    served, body = connect_server.request(
        "POST",
        f"/codeplane.v1.{_REPLACED[route]}",
        body=b"{}",
        headers={"authorization": f"Bearer {connect_server.token}", "content-type": "application/json"},
    )
    # Served, though an empty request may not be enough: a failure has the protocol's own body.
    assert served.status == 200 or b'"code"' in body
