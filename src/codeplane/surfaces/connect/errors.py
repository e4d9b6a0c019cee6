"""Errors as Connect sends them, with our error as the detail."""

from base64 import b64encode
from collections.abc import Mapping, Sequence

from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from protobuf import Message, Oneof
from protobuf.wkt import Any, ListValue, NullValue, Struct, Value
from starlette.responses import Response

from codeplane.kernel.errors import (
    Cancelled,
    CodePlaneError,
    DeadlineExceeded,
    Internal,
    MalformedRequest,
    TooLarge,
)
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.surfaces.services.call_failure import TYPE_URL, CallFailed

# Our errors for those that the library raises.
_OURS: Mapping[Code, tuple[type[CodePlaneError], str | None]] = {
    Code.INVALID_ARGUMENT: (MalformedRequest, "check the headers and the framing: connectrpc.com/docs/protocol"),
    Code.UNIMPLEMENTED: (MalformedRequest, "send one message, as it is or compressed with gzip"),
    Code.RESOURCE_EXHAUSTED: (TooLarge, None),
    Code.DEADLINE_EXCEEDED: (DeadlineExceeded, None),
    Code.CANCELED: (Cancelled, None),
}


def connect_error(failed: CallFailed) -> ConnectError:
    """Return the library's error for one of ours."""
    return ConnectError(Code(failed.error.rpc), failed.error.message, details=[_Detail(failed)])


def with_detail(error: ConnectError) -> ConnectError:
    """Return an error with one of ours as its detail, also when the library itself refused the request."""
    if error.details:
        return error
    kind, hint = _OURS.get(error.code, (Internal, None))
    ours = kind(error.message, hint=hint) if hint else kind(error.message)
    return ConnectError(error.code, ours.message, details=[_Detail(CallFailed(ours))])


def plain_answer(error: CodePlaneError, *, status: int, allow: str = "") -> Response:
    """Return a refusal as Connect's JSON, sent without the library."""
    failed = CallFailed(error)
    value = b64encode(failed.detail().SerializeToString()).decode().rstrip("=")
    shown: JsonObject = {"type": failed.detail().DESCRIPTOR.full_name, "value": value, "debug": failed.to_wire()}
    body: JsonObject = {"code": error.rpc, "message": error.message, "details": [shown]}
    headers = {"allow": allow} if allow else {}
    return Response(dumps(body), status_code=status, headers=headers, media_type="application/json")


class _Detail(ErrorDetail):
    """`codeplane.v1.Error` with its JSON, for clients without protobuf."""

    def __init__(self, failed: CallFailed) -> None:
        super().__init__(Any(type_url=TYPE_URL, value=failed.detail().SerializeToString()))
        self._shown = _struct(failed.to_wire())

    def value(self, *_: object) -> Message | None:  # type: ignore[override]  # whatever is asked for, this is shown
        """The value that `debug` shows."""
        return self._shown


def _struct(value: Mapping[str, JsonValue]) -> Struct:
    return Struct(fields={name: _value(inner) for name, inner in value.items()})


def _value(value: JsonValue) -> Value:
    """Convert a value to the library's own protobuf; integers stay integers."""
    if value is None:
        return _kind("null_value", NullValue.NULL_VALUE)
    if isinstance(value, bool):
        return _kind("bool_value", value)
    if isinstance(value, (int, float)):
        return _kind("number_value", value)
    if isinstance(value, str):
        return _kind("string_value", value)
    if isinstance(value, Mapping):
        return _kind("struct_value", _struct(value))
    assert isinstance(value, Sequence)
    return _kind("list_value", ListValue(values=[_value(inner) for inner in value]))


def _kind(field: str, value: object) -> Value:
    return Value(kind=Oneof(field=field, value=value))  # type: ignore[arg-type]  # the pairs are listed above
