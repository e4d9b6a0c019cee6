"""Conversion of a server's errors to exceptions."""

from collections.abc import Mapping

from codeplane.kernel.errors import (
    ERRORS,
    CodePlaneError,
    DeadlineExceeded,
    Internal,
    MalformedRequest,
    ServerUnreachable,
    TooLarge,
    Unauthorized,
)
from codeplane.kernel.json import JsonObject

_DETAIL = "codeplane.v1.Error"
# What the protocol itself refuses has no detail of ours.
_PLAIN: Mapping[str, type[CodePlaneError]] = {
    "invalid_argument": MalformedRequest,
    "unimplemented": MalformedRequest,
    "resource_exhausted": TooLarge,
    "unauthenticated": Unauthorized,
    "deadline_exceeded": DeadlineExceeded,
    "unavailable": ServerUnreachable,
}


def error_of_body(answer: JsonObject, status: int) -> tuple[JsonObject, JsonObject]:
    """Return the error object and the meta in the body of an error response."""
    details = answer.get("details")
    for detail in details if isinstance(details, list) else ():
        shown = detail.get("debug") if isinstance(detail, dict) and detail.get("type") == _DETAIL else None
        if isinstance(shown, dict):
            meta = shown.pop("meta", None)
            return shown, meta if isinstance(meta, dict) else {}
    if isinstance(error := answer.get("error"), dict):
        # From before the protocol: a wrong host, a body that is too large.
        return error, {}
    kind = _PLAIN.get(str(answer.get("code")), Internal)
    return kind(str(answer.get("message") or f"the server answered {status}")).to_wire(), {}


def to_exception(error: Mapping[str, object]) -> CodePlaneError:
    """Return the exception for an error object, of its own class when this version knows it."""
    kinds = {kind.name: kind for kind in ERRORS}
    kind = kinds.get(str(error.get("error")), Internal)
    details = error.get("details")
    return kind(
        str(error.get("message") or ""),
        hint=str(error.get("hint") or "") or None,
        details=details if isinstance(details, dict) else None,
        source=str(error.get("source") or "codeplane"),
    )
