"""Errors of ours as the protocol shows them."""

from codeplane.kernel.errors import CodePlaneError, Internal, InvalidArgument, Overloaded, RateLimited
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.json_rpc.message import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, RpcError

_BUSY = -32001


def rpc_error(error: CodePlaneError) -> RpcError:
    """Return an error with its hint, and all of it as data; overload is marked so that clients call again."""
    data: JsonObject = error.to_wire()
    message = error.message if error.hint in ("", error.message) else f"{error.message} ({error.name}; {error.hint})"
    if isinstance(error, Overloaded | RateLimited):
        return RpcError(_BUSY, message, data={**data, "codexErrorInfo": "server_overloaded"})
    if isinstance(error, InvalidArgument):
        return RpcError(INVALID_PARAMS, message, data=data)
    return RpcError(INTERNAL_ERROR if isinstance(error, Internal) else INVALID_REQUEST, message, data=data)


def precondition(message: str, error: CodePlaneError) -> RpcError:
    """Return an error whose message is word for word what clients of the protocol look for."""
    return RpcError(INVALID_REQUEST, message, data=error.to_wire())
