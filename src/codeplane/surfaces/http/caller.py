"""Who sent an HTTP request, as far as HTTP tells; the conveyor decides what that is worth."""

from starlette.requests import Request

from codeplane.kernel.actor import Caller
from codeplane.surfaces.services.caller import bearer

_MAX_NAME = 80


def caller(request: Request) -> Caller:
    """The caller of one request; Unauthorized when it shows more than one token."""
    client = "".join(char if char.isprintable() else "?" for char in request.headers.get("user-agent", "")[:_MAX_NAME])
    return Caller(
        surface="connect",
        client=client or None,
        token=bearer(request.headers.getlist("authorization")),
        request_id=request.state.request_id,
        traceparent=request.headers.get("traceparent"),
    )
