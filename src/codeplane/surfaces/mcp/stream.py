"""MCP as newline-delimited JSON over one full-duplex HTTP exchange, for the stdio shim."""

from functools import partial

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from codeplane.kernel.ids import new_id
from codeplane.surfaces.mcp.caller import STREAM, byte_stream
from codeplane.surfaces.mcp.lines import MalformedLine, parse_message, read_lines
from codeplane.surfaces.mcp.request_ids import duplicate_error, id_key
from codeplane.surfaces.mcp.server import McpSurface

MEDIA_TYPE = "application/x-ndjson"
LAST_ANSWERS_SEC = 30.0

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


class ByteStream:
    """The ASGI application at `/mcp/stdio`: request body and response body are the two directions."""

    def __init__(self, surface: McpSurface) -> None:
        self._surface = surface

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
            return
        stream_id = new_id("conn")
        request = Request({**scope, STREAM: stream_id}, receive)
        # No page of a browser can send this type without asking first.
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != MEDIA_TYPE:
            await Response(f"the content type has to be {MEDIA_TYPE}", status_code=415)(scope, receive, send)
            return
        started = {"type": "http.response.start", "status": 200}
        await send({**started, "headers": [(b"content-type", MEDIA_TYPE.encode())]})
        await send({"type": "http.response.body", "body": b"", "more_body": True})
        try:
            await _Exchange(request, send).run(self._surface)
        finally:
            self._surface.end_connection(byte_stream(stream_id))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class _Exchange:
    """One client's exchange of lines."""

    def __init__(self, request: Request, send: Send) -> None:
        self._request = request
        self._send = send
        self._unanswered = _Unanswered()

    async def run(self, surface: McpSurface) -> None:
        """Serve until the client disconnects, or has closed its input and got its last answers."""
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

        async def send_lines() -> None:
            async with outgoing:
                async for item in outgoing:
                    body = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
                    await self._send({"type": "http.response.body", "body": body, "more_body": True})
                    self._unanswered.note_sent(item)

        async with anyio.create_task_group() as group:
            group.start_soon(send_lines)
            async with anyio.create_task_group() as receiving:
                receiving.start_soon(self._receive_lines, incoming, write.clone())
                await serve_dual_era_loop(surface.server, read, write, lifespan_state={})
                receiving.cancel_scope.cancel()

    async def _receive_lines(self, incoming: Incoming, refusals: Outgoing) -> None:
        async with incoming, refusals:
            try:
                async for line in read_lines(self._request):
                    try:
                        message = parse_message(line)
                    except MalformedLine as problem:
                        await refusals.send(SessionMessage(problem.answer()))
                        continue
                    if isinstance(message, types.JSONRPCRequest) and not self._unanswered.add(message.id):
                        await refusals.send(SessionMessage(self._unanswered.refuse(message.id)))
                        continue
                    await incoming.send(self._frame(message))
                # A client that sends its last request and closes its end still wants the answer.
                with anyio.move_on_after(LAST_ANSWERS_SEC):
                    await self._last_answers()
            except (anyio.ClosedResourceError, anyio.BrokenResourceError, ClientDisconnect):
                return

    def _frame(self, message: types.JSONRPCMessage) -> SessionMessage:
        settled = None
        if isinstance(message, types.JSONRPCRequest):
            settled = partial(self._unanswered.drop, message.id)
        metadata = ServerMessageMetadata(request_context=self._request, on_request_unanswered=settled)
        return SessionMessage(message, metadata=metadata)

    async def _last_answers(self) -> None:
        """Return when everything is answered, or the client has disconnected."""
        async with anyio.create_task_group() as group:

            async def leave() -> None:
                while (await self._request.receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(leave)
            await self._unanswered.none()
            group.cancel_scope.cancel()


class _Unanswered:
    """The requests that have not been answered yet."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._refusals: list[types.JSONRPCError] = []
        self._none = anyio.Event()

    def add(self, request_id: types.RequestId) -> bool:
        """Add a request; False when its id is in use."""
        key = id_key(request_id)
        if key in self._ids:
            return False
        self._ids.add(key)
        return True

    def refuse(self, request_id: types.RequestId) -> types.JSONRPCError:
        """Note the refusal of a duplicate id; the earlier request stays unanswered."""
        self._refusals.append(answer := duplicate_error(request_id))
        return answer

    def note_sent(self, item: SessionMessage) -> None:
        """Note a sent message."""
        if any(item.message is refusal for refusal in self._refusals):
            self._refusals = [refusal for refusal in self._refusals if refusal is not item.message]
            return
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError) and item.message.id is not None:
            self._discard(item.message.id)

    async def drop(self, request_id: types.RequestId) -> None:
        """Drop a cancelled request, which gets no answer."""
        self._discard(request_id)

    async def none(self) -> None:
        """Return when nothing is unanswered."""
        if self._ids:
            self._none = anyio.Event()
            await self._none.wait()

    def _discard(self, request_id: types.RequestId) -> None:
        self._ids.discard(id_key(request_id))
        if not self._ids:
            self._none.set()
