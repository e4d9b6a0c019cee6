"""Errors of ours as ACP shows them."""

from codeplane.kernel.errors import CodePlaneError, NotInitialized
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.json_rpc.message import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError

AUTH_REQUIRED, RESOURCE_NOT_FOUND, REQUEST_CANCELLED = -32000, -32002, -32800
_CODES = {
    "invalid_argument": INVALID_PARAMS,
    "not_found": RESOURCE_NOT_FOUND,
    "unauthenticated": AUTH_REQUIRED,
    "canceled": REQUEST_CANCELLED,
}


def seed_error(error: CodePlaneError) -> RpcError:
    """Return an error as the specification's dialect shows it."""
    code = INVALID_REQUEST if isinstance(error, NotInitialized) else _CODES.get(error.rpc, INTERNAL_ERROR)
    data: JsonObject = {
        "code": error.acp,
        "message": error.message,
        "retryable": error.retryable,
        "hint": error.hint,
        "error": error.name,
        "details": error.details,
    }
    return RpcError(code, f"{error.acp}: {error.message}", data=data)


def rpc_error(error: CodePlaneError) -> RpcError:
    """Return an error with its hint, and all of it as data."""
    message = f"{error.name}: {error.message}\nhint: {error.hint}"
    code = INVALID_REQUEST if isinstance(error, NotInitialized) else _CODES.get(error.rpc, INTERNAL_ERROR)
    return RpcError(code, message, data=error.to_wire())
