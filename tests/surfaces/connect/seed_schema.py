"""The streaming protocol's specification as a proto file: all that a client of somebody else's would know of us."""

import json
from pathlib import Path
from typing import Final

_CONTRACT: Final = json.loads(
    (Path(__file__).resolve().parents[1] / "services" / "contract" / "streaming_protocol.json").read_text()
)
SERVICES: Final = ("ThreadsService", "TurnsService", "EventsService", "JobsService", "SchedulesService")
# The specification names these two and leaves their fields to the server.
_ADDED_MESSAGES: Final = {
    "SendTurnRequest": {
        name: field
        for name, field in _CONTRACT["messages"]["StartTurnRequest"].items()
        if name != "resume_from_sequence"
    },
    "SendTurnResponse": {
        "turn_id": [1, "string"],
        "user_message_id": [2, "string"],
        "status": [3, "string"],
        "assistant_message": [4, "string"],
        "pending_action_ids": [5, "repeated string"],
        "last_sequence": [6, "uint64"],
    },
}
# An event's own fields come before its payload, of which there is one.
_FIRST_PAYLOAD: Final = 20


def write_schema(folder: Path) -> Path:
    """Write the proto file below a folder, and return the folder."""
    path = folder / "codeplane" / "v1" / "streaming.proto"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join([*_head(), *_enums(), *_messages(), *_services()]) + "\n")
    (folder / "buf.yaml").write_text("version: v2\n")
    return folder


def _head() -> list[str]:
    imports = [f'import "google/protobuf/{name}.proto";' for name in ("struct", "timestamp")]
    return ['syntax = "proto3";', "package codeplane.v1;", *imports]


def _enums() -> list[str]:
    return [
        f"enum {name} {{ {' '.join(f'{value} = {number};' for value, number in values.items())} }}"
        for name, values in _CONTRACT["enums"].items()
    ]


def _messages() -> list[str]:
    return [
        f"message {name} {{ {_fields(name, fields)} }}"
        for name, fields in {**_ADDED_MESSAGES, **_CONTRACT["messages"]}.items()
    ]


def _fields(message: str, fields: dict[str, list[object]]) -> str:
    lines = [(int(str(number)), f"{kind} {name} = {number};") for name, (number, kind) in fields.items()]
    if message != "ThreadEvent":
        return " ".join(line for _, line in lines)
    payload = " ".join(line for number, line in lines if number >= _FIRST_PAYLOAD)
    return " ".join([*(line for number, line in lines if number < _FIRST_PAYLOAD), f"oneof payload {{ {payload} }}"])


def _services() -> list[str]:
    return [
        f"service {name} {{ "
        + " ".join(
            f"rpc {method}({request}) returns ({answer});"
            for method, (request, answer) in _CONTRACT["services"][name].items()
        )
        + " }"
        for name in SERVICES
    ]
