"""What a caller of the operation service sends: which operation, with which arguments."""

import json
import struct
from dataclasses import dataclass
from typing import NoReturn

from codeplane.kernel.errors import MalformedRequest
from codeplane.kernel.json import JsonObject, canonical

_LONGEST_ID = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBody:
    """The body of one request."""

    operation: str
    arguments: JsonObject
    connection_id: str | None
    with_text: bool

    @classmethod
    def of(cls, raw: bytes) -> "OperationBody":
        """Read it, or say what is wrong with it."""
        body = _decoded(raw)
        operation, arguments, connection = (body.get(name) for name in ("operation", "arguments", "connection_id"))
        if not isinstance(operation, str):
            raise MalformedRequest('`operation` must be a string, such as "status"')
        if arguments is not None and not isinstance(arguments, dict):
            raise MalformedRequest("`arguments` must be an object")
        if connection is not None and not (isinstance(connection, str) and len(connection) <= _LONGEST_ID):
            raise MalformedRequest(f"`connection_id` must be a string of at most {_LONGEST_ID} characters")
        return cls(
            operation=operation,
            arguments=arguments or {},
            connection_id=connection or None,
            with_text=body.get("text") is True,
        )


def unframed(raw: bytes) -> bytes:
    """The one message of a streaming request: enveloped as Connect does it, or plain JSON."""
    if raw[:1] != b"\0":
        return raw
    if len(raw) < 5 or len(raw) != 5 + struct.unpack(">I", raw[1:5])[0]:
        raise MalformedRequest("the message's length is not what its envelope says")
    return raw[5:]


def _decoded(raw: bytes) -> JsonObject:
    try:
        body = json.loads(raw.decode(), parse_constant=_refuse)
        if b"\\u" in raw:
            # Half of a surrogate pair can be written in JSON, but never again as UTF-8.
            canonical(body)
    except (ValueError, RecursionError) as error:
        raise MalformedRequest(f"the body is not JSON in UTF-8: {str(error)[:200]}") from error
    if not isinstance(body, dict):
        raise MalformedRequest("the body must be one JSON object with `operation` and `arguments`")
    return body


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
