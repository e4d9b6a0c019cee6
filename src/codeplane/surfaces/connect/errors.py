"""Errors as Connect sends them, with ours as the detail."""

from base64 import b64encode
from collections.abc import Mapping, Sequence

from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from protobuf import Message, Oneof
from protobuf.wkt import Any, ListValue, NullValue, Struct, Value
from starlette.responses import Response

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.surfaces.services.failure import TYPE_URL, Failed


def connect_error(failed: Failed) -> ConnectError:
    """The library's error for one of ours."""
    return ConnectError(Code(failed.error.rpc), failed.error.message, details=[_Detail(failed)])


def plain_answer(error: CodePlaneError, *, status: int, allow: str = "") -> Response:
    """A refusal before the library is asked: Connect's JSON, which everything else can read too."""
    failed = Failed(error)
    value = b64encode(failed.detail().SerializeToString()).decode().rstrip("=")
    shown: JsonObject = {"type": failed.detail().DESCRIPTOR.full_name, "value": value, "debug": failed.to_wire()}
    body: JsonObject = {"code": error.rpc, "message": error.message, "details": [shown]}
    headers = {"allow": allow} if allow else {}
    return Response(dumps(body), status_code=status, headers=headers, media_type="application/json")


class _Detail(ErrorDetail):
    """`codeplane.v1.Error`, with its JSON beside it for those who have no protobuf at hand."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(Any(type_url=TYPE_URL, value=failed.detail().SerializeToString()))
        self._shown = _struct(failed.to_wire())

    def value(self, *_: object) -> Message | None:  # type: ignore[override]  # whatever is asked for, this is shown
        """What `debug` shows."""
        return self._shown


def _struct(value: Mapping[str, JsonValue]) -> Struct:
    return Struct(fields={name: _value(inner) for name, inner in value.items()})


def _value(value: JsonValue) -> Value:
    """The value as the library's own protobuf has it; numbers stay what they are, so that 2009 is not 2009.0."""
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
    return Value(kind=Oneof(field=field, value=value))  # type: ignore[arg-type]  # which goes with which is said above
