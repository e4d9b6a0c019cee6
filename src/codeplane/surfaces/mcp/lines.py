"""JSON-RPC messages as lines of a byte stream."""

import json
from collections.abc import AsyncIterator

import mcp_types as types
from pydantic import ValidationError
from starlette.requests import Request

MAX_LINE_BYTES = 16 * 1024 * 1024


class MalformedLine(Exception):
    """A line that is not a message; its id, if any, addresses the answer."""

    def __init__(self, code: int, message: str, *, request_id: types.RequestId | None = None) -> None:
        super().__init__(message)
        self._code = code
        self._message = message
        self._request_id = request_id

    def answer(self) -> types.JSONRPCError:
        """Return the error response."""
        error = types.ErrorData(code=self._code, message=self._message)
        return types.JSONRPCError(jsonrpc="2.0", id=self._request_id, error=error)


async def read_lines(request: Request, *, limit: int = MAX_LINE_BYTES) -> AsyncIterator[bytes | None]:
    """Yield the non-empty lines of a body; None stands for a dropped line over the limit."""
    rest = bytearray()
    dropping = False
    async for chunk in request.stream():
        searched = len(rest)
        rest += chunk
        while (end := rest.find(b"\n", searched)) >= 0:
            line = bytes(rest[:end]).strip()
            del rest[: end + 1]
            searched = 0
            if line and not dropping:
                yield line
            dropping = False
        if len(rest) > limit and not dropping:
            dropping = True
            yield None
        if dropping:
            rest.clear()
    if rest.strip():
        yield bytes(rest)


def parse_message(line: bytes | None) -> types.JSONRPCMessage:
    """Parse a line into a message, or raise MalformedLine."""
    if line is None:
        raise MalformedLine(types.INVALID_REQUEST, f"a line may hold {MAX_LINE_BYTES} bytes; this one was dropped")
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        raise _explain(line) from None
    # A request whose id is of the wrong kind is owed an answer, though without the id it would be a notification.
    if isinstance(message, types.JSONRPCNotification) and b'"id"' in line and "id" in json.loads(line):
        raise _explain(line)
    return message


def _explain(line: bytes) -> MalformedLine:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return MalformedLine(types.PARSE_ERROR, f"a line has to be JSON in UTF-8: {str(error)[:200]}")
    if isinstance(found, list):
        return MalformedLine(types.INVALID_REQUEST, "batches are not part of MCP; send each message on its own line")
    request_id = found.get("id") if isinstance(found, dict) else None
    if isinstance(request_id, bool) or not isinstance(request_id, int | str):
        request_id = None
    return MalformedLine(types.INVALID_REQUEST, "this is no JSON-RPC 2.0 message", request_id=request_id)
