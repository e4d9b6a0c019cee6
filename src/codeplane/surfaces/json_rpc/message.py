"""JSON-RPC messages, and the errors of the protocol itself."""

import json
import math
from dataclasses import dataclass
from typing import TypeAlias

from codeplane.kernel.json import JsonObject, JsonValue, dumps

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
_MAX_SHOWN = 200
_LONGEST_ID = 512

RequestId: TypeAlias = int | str


class RpcError(Exception):
    """An error as the other side reads it; `request_id` is known where a message that is none at all has one."""

    def __init__(self, code: int, message: str, *, data: JsonValue = None, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.request_id = request_id

    def to_wire(self) -> JsonObject:
        """Return the error object of a response."""
        return {
            "code": self.code,
            "message": self.message,
            **({"data": self.data} if self.data is not None else {}),
        }


class BadResponse(RpcError):
    """An invalid answer: its caller need not wait any longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, which is answered."""

    id: RequestId
    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A notification, which is not answered."""

    method: str
    params: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """The answer to a request of ours."""

    id: RequestId | None
    result: JsonValue = None
    error: RpcError | None = None


Message: TypeAlias = Request | Notification | Response


def parse_message(text: str, *, needs_version: bool = True) -> Message:
    """Parse a message; RpcError when it is none. Not every protocol has its messages say the version of JSON-RPC."""
    odd: list[str] = []

    def number(digits: str) -> float:
        # 1e999 and NaN, which Python reads, cannot be sent on.
        if not math.isfinite(found := float(digits)):
            odd.append(digits[:50])
        return found

    try:
        fields = json.loads(text, parse_constant=number, parse_float=number)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"a message has to be JSON: {str(error)[:_MAX_SHOWN]}") from None
    if isinstance(fields, list):
        raise RpcError(INVALID_REQUEST, "batches are not taken; send each message by itself")
    if not isinstance(fields, dict):
        raise RpcError(INVALID_REQUEST, "a message has to be a JSON object")
    request_id = fields.get("id")
    known_id = request_id if _is_id(request_id) else None
    if odd:
        raise RpcError(PARSE_ERROR, f"{odd[0]} is no number of JSON", request_id=known_id)
    if fields.get("jsonrpc", None if needs_version else "2.0") != "2.0":
        raise RpcError(INVALID_REQUEST, 'a message has to have "jsonrpc": "2.0"', request_id=known_id)
    if "method" not in fields:
        return _response(fields, known_id)
    method, params = fields["method"], fields.get("params")
    if not isinstance(method, str) or not method:
        raise RpcError(INVALID_REQUEST, "`method` has to be a name", request_id=known_id)
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "`params` has to be an object", request_id=known_id)
    if "id" not in fields:
        return Notification(method=method, params=params)
    if known_id is None:
        raise RpcError(INVALID_REQUEST, f"`id` has to be a number or a text of at most {_LONGEST_ID} characters")
    return Request(id=known_id, method=method, params=params)


def request_text(request_id: RequestId, method: str, params: JsonObject) -> str:
    """Return a request as it is sent."""
    return dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notification_text(method: str, params: JsonObject) -> str:
    """Return a notification as it is sent."""
    return dumps({"jsonrpc": "2.0", "method": method, "params": params})


def result_text(request_id: RequestId, result: JsonValue) -> str:
    """Return an answer as it is sent."""
    return dumps({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_text(request_id: RequestId | None, error: RpcError) -> str:
    """Return an error as it is sent."""
    return dumps({"jsonrpc": "2.0", "id": request_id, "error": error.to_wire()})


def _response(fields: JsonObject, request_id: RequestId | None) -> Response:
    error = fields.get("error")
    # Some clients write both, with null for the missing one.
    has_error = "error" in fields and (error is not None or "result" not in fields)
    if ("result" in fields) == has_error:
        raise BadResponse(
            INVALID_REQUEST, "a message has to have a method, a result or an error", request_id=request_id
        )
    if not has_error:
        return Response(id=request_id, result=fields["result"])
    if not isinstance(error, dict):
        error = {}
    code, message = error.get("code"), error.get("message")
    return Response(
        id=request_id,
        error=RpcError(
            code if isinstance(code, int) else INTERNAL_ERROR,
            message if isinstance(message, str) else "unknown error",
            data=error.get("data"),
        ),
    )


def _is_id(value: JsonValue) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_ID
    return isinstance(value, int) and not isinstance(value, bool)
