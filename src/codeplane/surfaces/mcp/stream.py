"""MCP as newline-delimited JSON over one full-duplex HTTP exchange: what the stdio shim speaks."""

from collections.abc import AsyncIterator

import anyio
import mcp_types as types
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from codeplane.kernel.ids import new_id
from codeplane.surfaces.mcp.server import CONNECTION_HEADER, McpSurface

MAX_LINE_BYTES = 16 * 1024 * 1024
LAST_ANSWERS_SEC = 30.0


class ByteStream:
    """The ASGI application at `/mcp/stdio`: request body and response body are the two directions."""

    def __init__(self, surface: McpSurface) -> None:
        self._surface = surface

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection_id = new_id("conn")
        headers = [*scope["headers"], (CONNECTION_HEADER.encode(), connection_id.encode())]
        request = Request({**scope, "headers": headers}, receive)
        started = {"type": "http.response.start", "status": 200}
        await send({**started, "headers": [(b"content-type", b"application/x-ndjson")]})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        unanswered = _Unanswered()
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def receive_lines() -> None:
            async with incoming:
                try:
                    async for line in _lines(request):
                        item = _message(line, request)
                        unanswered.received(item)
                        await incoming.send(item)
                    # A client that sends its last request and closes its end still wants the answer.
                    with anyio.move_on_after(LAST_ANSWERS_SEC):
                        await unanswered.none()
                except (anyio.ClosedResourceError, anyio.BrokenResourceError, ClientDisconnect):
                    return

        async def send_lines() -> None:
            async with outgoing:
                async for item in outgoing:
                    body = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    await send({"type": "http.response.body", "body": body, "more_body": True})
                    unanswered.sent(item)

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(receive_lines)
                group.start_soon(send_lines)
                await serve_dual_era_loop(self._surface.server, read, write, lifespan_state={})
                group.cancel_scope.cancel()
        finally:
            self._surface.disconnected(connection_id)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class _Unanswered:
    """The requests that came in and have not been answered yet."""

    def __init__(self) -> None:
        self._ids: set[types.RequestId] = set()
        self._none = anyio.Event()

    def received(self, item: SessionMessage | Exception) -> None:
        """A message came in."""
        if isinstance(item, SessionMessage) and isinstance(item.message, types.JSONRPCRequest):
            self._ids.add(item.message.id)

    def sent(self, item: SessionMessage) -> None:
        """A message went out."""
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError) and item.message.id is not None:
            self._ids.discard(item.message.id)
            if not self._ids:
                self._none.set()

    async def none(self) -> None:
        """Return when nothing is unanswered."""
        if self._ids:
            self._none = anyio.Event()
            await self._none.wait()


def _message(line: bytes, request: Request) -> SessionMessage | Exception:
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        return error
    return SessionMessage(message, metadata=ServerMessageMetadata(request_context=request))


async def _lines(request: Request) -> AsyncIterator[bytes]:
    rest = bytearray()
    async for chunk in request.stream():
        rest += chunk
        while (end := rest.find(b"\n")) >= 0:
            line = bytes(rest[:end]).strip()
            del rest[: end + 1]
            if line:
                yield line
        if len(rest) > MAX_LINE_BYTES:
            yield b"{}"  # answered as a malformed message; the connection ends with it
            return
    if rest.strip():
        yield bytes(rest)
