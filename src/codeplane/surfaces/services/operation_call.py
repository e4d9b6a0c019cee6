"""Requests of the operation service."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from google.protobuf.message import Message

from codeplane._gen.operations_pb2 import CallRequest, StreamRequest
from codeplane.kernel.errors import MalformedRequest
from codeplane.kernel.json import JsonObject, JsonValue, canonical
from codeplane.surfaces.services.structs import from_struct

_LONGEST_ID = 200
_TEXTS = ("operation", "arguments_json", "idempotency_key", "session_id", "connection_id")
_FLAGS = ("text", "exact", "progress")
# Protobuf's JSON has every field under two names.
_NAMES: dict[type[Message], dict[str, str]] = {
    kind: {name: field.name for field in kind.DESCRIPTOR.fields for name in (field.name, field.json_name)}
    for kind in (CallRequest, StreamRequest)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationCall:
    """A call of an operation by name."""

    operation: str
    arguments: JsonObject
    connection_id: str | None = None
    with_text: bool = False
    exact: bool = False
    with_progress: bool = False

    @classmethod
    def of_json(cls, raw: bytes, kind: type[Message]) -> "OperationCall":
        """Parse a call from the JSON of one of its messages, or raise what is wrong with it."""
        hint = "send one JSON object with `operation` and `arguments`"
        body = _fields(_object(raw, "the body", hint=hint), _NAMES[kind])
        for name in _TEXTS:
            if not isinstance(body.get(name, ""), str):
                raise MalformedRequest(f"`{name}` must be a string")
        for name in _FLAGS:
            if not isinstance(body.get(name, False), bool):
                raise MalformedRequest(f"`{name}` must be true or false")
        if not isinstance(body.get("arguments", {}), dict):
            raise MalformedRequest("`arguments` must be an object")
        return cls._of(body)

    @classmethod
    def of_message(cls, message: CallRequest | StreamRequest) -> "OperationCall":
        """Read it from either of its messages."""
        body: JsonObject = {name: value for name in (*_TEXTS, *_FLAGS) if (value := getattr(message, name, None))}
        if message.HasField("arguments"):
            body["arguments"] = from_struct(message.arguments)
        return cls._of(body)

    @classmethod
    def _of(cls, body: Mapping[str, JsonValue]) -> "OperationCall":
        operation, arguments = body.get("operation"), body.get("arguments")
        if not operation:
            raise MalformedRequest("`operation` is missing", hint='name one, such as "status"')
        if text := body.get("arguments_json"):
            if arguments:
                raise MalformedRequest("`arguments` and `arguments_json` are both there", hint="send one of them")
            arguments = _object(str(text).encode(), "`arguments_json`", hint="write one JSON object")
        connection = str(body.get("connection_id") or "")
        if len(connection) > _LONGEST_ID:
            raise MalformedRequest(f"`connection_id` must be a string of at most {_LONGEST_ID} characters")
        given: JsonObject = dict(arguments) if isinstance(arguments, Mapping) else {}
        for name in ("idempotency_key", "session_id"):
            if value := body.get(name):
                if given.get(name, value) != value:
                    raise MalformedRequest(f"`{name}` is there twice, differently")
                given[name] = value
        return cls(
            operation=str(operation),
            arguments=given,
            connection_id=connection or None,
            with_text=body.get("text") is True,
            exact=body.get("exact") is True,
            with_progress=body.get("progress") is True,
        )


def _fields(body: JsonObject, names: Mapping[str, str]) -> JsonObject:
    fields: JsonObject = {}
    for name, value in body.items():
        if name not in names:
            known = ", ".join(sorted(set(names.values())))
            raise MalformedRequest(f"there is no field {name[:80]!r}", hint=f"use {known}")
        if value is not None:
            fields[names[name]] = value
    return fields


def _object(raw: bytes, what: str, *, hint: str) -> JsonObject:
    try:
        body = json.loads(raw.decode(), parse_constant=_refuse)
        if b"\\u" in raw:
            # Half of a surrogate pair can be written in JSON, but never again as UTF-8.
            canonical(body)
    except (ValueError, RecursionError) as error:
        raise MalformedRequest(f"{what} is not JSON in UTF-8: {str(error)[:200]}") from error
    if not isinstance(body, dict):
        raise MalformedRequest(f"{what} must be one JSON object", hint=hint)
    return body


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
