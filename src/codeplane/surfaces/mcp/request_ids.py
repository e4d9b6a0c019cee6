"""Request ids of MCP sessions; a duplicate id in progress is refused.

The library keeps one place for the answer of each id. A second request with the same id would take it over; the client
that sent the first would wait for ever, or get the answer of the second.
"""

from typing import Any

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive

from codeplane.surfaces.mcp.caller import SESSION_HEADER

Key = tuple[str, str]
# What the server itself sends is named before its parameters, within so many bytes of the event.
_HEAD = 160


def id_key(request_id: types.RequestId) -> str:
    """Return the library's key of an id; to it, 1 and "1" are the same."""
    return str(request_id)


def duplicate_error(request_id: types.RequestId) -> types.JSONRPCError:
    """Return the error for a duplicate id."""
    message = f"a request with id {request_id!r} is under way in this session; give every request an id of its own"
    error = types.ErrorData(code=types.INVALID_REQUEST, message=message)
    return types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


class RequestIds:
    """The ids in use in sessions over HTTP.

    An id is taken while its HTTP exchange lasts, and while its handler runs: that goes on when its client has left.
    """

    def __init__(self) -> None:
        self._exchanged: set[Key] = set()
        self._handled: set[Key] = set()

    def take(self, key: Key) -> bool:
        """Take an id; return False if it is in use."""
        if key in self._exchanged or key in self._handled:
            return False
        self._exchanged.add(key)
        return True

    def end_exchange(self, key: Key) -> None:
        """Release an id when its exchange ends or is answered."""
        self._exchanged.discard(key)

    def begin_handler(self, key: Key) -> None:
        """Keep an id taken while its handler runs."""
        self._handled.add(key)

    def end_handler(self, key: Key) -> None:
        """Note the end of a handler."""
        self._handled.discard(key)

    async def middleware(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Check the id around the handler of every request."""
        session = ctx.request.headers.get(SESSION_HEADER) if isinstance(ctx.request, Request) else None
        if session is None or ctx.request_id is None:
            return await call_next(ctx)
        key = session, id_key(ctx.request_id)
        self.begin_handler(key)
        try:
            return await call_next(ctx)
        finally:
            self.end_handler(key)


async def read_body(receive: Receive) -> tuple[bytes, Receive]:
    """Read a request's body; return it and a `receive` that replays it."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            break
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    body = b"".join(parts)
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    if message["type"] != "http.request":
        pending = [message]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return body, again


def parse_json(body: bytes) -> object:
    """Parse a body as JSON; None when it is invalid."""
    try:
        return from_json(body)
    except (ValueError, RecursionError):
        return None


def request_id_of(message: object) -> types.RequestId | None:
    """Return the id of a request; None for anything else."""
    if not isinstance(message, dict) or "method" not in message:
        return None
    request_id = message.get("id")
    return request_id if isinstance(request_id, int | str) and not isinstance(request_id, bool) else None


def is_answer(chunk: bytes) -> bool:
    """Return whether a chunk holds the answer, not a notification or a comment."""
    return bool(chunk.strip()) and not chunk.startswith(b":") and chunk.find(b'"method"', 0, _HEAD) < 0


def duplicate_response(request_id: types.RequestId, session: str) -> Response:
    """Return the error for a duplicate id as an HTTP response."""
    body = duplicate_error(request_id).model_dump_json(by_alias=True, exclude_unset=True)
    return Response(body, media_type="application/json", headers={SESSION_HEADER: session})


def invalid_id_response(session: str) -> Response:
    """Return the error for an id of the wrong type, which the library would take for a notification."""
    error = types.ErrorData(code=types.INVALID_REQUEST, message="the id of a request is a string or a whole number")
    body = types.JSONRPCError(jsonrpc="2.0", id=None, error=error).model_dump_json(by_alias=True, exclude_unset=True)
    return Response(body, status_code=400, media_type="application/json", headers={SESSION_HEADER: session})
