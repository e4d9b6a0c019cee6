"""MCP sessions over HTTP that answer in plain JSON when the answer comes at once.

The SDK opens an event stream for every answer, which costs more than most calls do. Here a request gets one only if
something is sent before its answer (progress, a question), or if it takes longer than a client should wait for a byte.
"""

import asyncio
import hmac
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.streamable_http import (
    CONTENT_TYPE_SSE,
    LAST_EVENT_ID_HEADER,
    REQUEST_STREAM_BUFFER_SIZE,
    EventMessage,
    SSEEvent,
    StreamableHTTPServerTransport,
)
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from pydantic import ValidationError
from sse_starlette import EventSourceResponse
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from codeplane.surfaces.connections.session_holder import SessionHolder
from codeplane.surfaces.mcp.apps import shows_apps
from codeplane.surfaces.mcp.caller import SESSION_HEADER, printable_name

# The JSON of a request's body, where it was read before.
MESSAGE = "codeplane.mcp.message"
PROMPT_SEC = 1.0

First = asyncio.Future[EventMessage]


class SessionTransport(StreamableHTTPServerTransport):
    """The transport of one session."""

    def __init__(self, *, holder: SessionHolder, client_secret: str | None, **options: Any) -> None:
        """`holder` is whose share the session counts for; `client_secret` what its client is registered by."""
        super().__init__(**options)
        self.holder = holder
        self._client_secret = (client_secret or "").encode()
        self.client_name: str | None = None
        # The calls that do not pass the SDK's message loop, by the keys of their ids.
        self.calls: dict[str, asyncio.Task[bytes]] = {}
        self._is_plain_client = False

    def belongs_to(self, holder: SessionHolder, client_secret: str | None) -> bool:
        """Whether a request comes from the session's opener, by account, token and registration."""
        return holder == self.holder and hmac.compare_digest((client_secret or "").encode(), self._client_secret)

    @property
    def idle_since(self) -> float | None:
        """Return a number that is smaller the longer the session has been idle; None while it serves a request."""
        if self.idle_scope is None or self._requests_in_flight:
            return None
        return self.idle_scope.deadline

    def set_client(self, client: types.InitializeRequestParams) -> None:
        """Note who opened the session: one whose person can be asked, or is shown views, needs the SDK's way."""
        self.client_name = printable_name(client.client_info.name)
        needs_nothing = client.capabilities.elicitation is None and not shows_apps(client.capabilities.extensions)
        self._is_plain_client = needs_nothing

    @property
    def takes_direct_calls(self) -> bool:
        """Whether the session is open and its client needs nothing but answers."""
        is_expired = self.idle_scope is not None and self.idle_scope.cancel_called
        return self._is_plain_client and not self.is_terminated and not is_expired

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep the session from ending for idleness, as the SDK does around a request."""
        if self.idle_scope is None or self._idle_timeout is None:
            yield
            return
        self._requests_in_flight += 1
        self.idle_scope.deadline = math.inf
        try:
            yield
        finally:
            self._requests_in_flight -= 1
            if not self._requests_in_flight:
                self.idle_scope.deadline = anyio.current_time() + self._idle_timeout

    async def terminate(self) -> None:
        """End the session and its calls."""
        self._terminated = True
        for task in list(self.calls.values()):
            task.cancel()
        await super().terminate()

    async def _handle_post_request(self, scope: Scope, request: Request, receive: Receive, send: Send) -> None:
        message = _request(scope.get(MESSAGE))
        writer = self._read_stream_writer
        if message is None or writer is None or not self._check_content_type(request):
            await super()._handle_post_request(scope, request, receive, send)
            return
        if not await self._validate_accept_header(request, scope, send):
            return
        if not await self._validate_request_headers(request, send):
            return
        key = str(message.id)
        self._request_streams[key] = streams = anyio.create_memory_object_stream[EventMessage](
            REQUEST_STREAM_BUFFER_SIZE
        )
        version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER, types.DEFAULT_NEGOTIATED_VERSION)
        first: First | None = None
        try:
            await writer.send(self._create_session_message(message, request, key, version))
            first = asyncio.ensure_future(streams[1].receive())
            await asyncio.wait({first}, timeout=PROMPT_SEC)
            if first.done() and _ends(first):
                await self._answer(first, scope, receive, send)
            else:
                await self._stream(key, first, streams[1], scope, receive, send)
        finally:
            if first is not None:
                first.cancel()
            # Not by its name alone: the client that has the answer may have used the id again by now.
            if self._request_streams.get(key) is streams:
                del self._request_streams[key]
            for stream in streams:
                stream.close()

    async def _replay_events(self, last_event_id: str, request: Request, send: Send) -> None:
        """Reopen the stream of a client that reconnects; events are not stored, so none are repeated."""
        name = LAST_EVENT_ID_HEADER.encode()
        headers = [pair for pair in request.scope["headers"] if pair[0].lower() != name]
        await self._handle_get_request(Request({**request.scope, "headers": headers}, request.receive), send)

    async def _answer(self, first: First, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = self._create_json_response(first.result().message)
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            response = self._create_error_response(
                "Session terminated before the request completed",
                HTTPStatus.INTERNAL_SERVER_ERROR,
                types.INTERNAL_ERROR,
            )
        await response(scope, receive, send)

    async def _stream(
        self,
        key: str,
        first: First,
        reader: MemoryObjectReceiveStream[EventMessage],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Send the answer as an event stream, as the SDK does."""
        events, outgoing = anyio.create_memory_object_stream[SSEEvent](0)
        self._sse_stream_writers[key] = events
        response = EventSourceResponse(
            content=outgoing,
            data_sender_callable=partial(self._send_events, key, first, events, reader),
            headers=event_stream_headers(self.mcp_session_id or ""),
        )
        try:
            await response(scope, receive, send)
        finally:
            await outgoing.aclose()

    async def _send_events(
        self,
        key: str,
        first: First,
        events: MemoryObjectSendStream[SSEEvent],
        reader: MemoryObjectReceiveStream[EventMessage],
    ) -> None:
        try:
            async with events:
                message = await first
                await events.send(self._create_event_data(message))
                while not isinstance(message.message, types.JSONRPCResponse | types.JSONRPCError):
                    message = await reader.receive()
                    await events.send(self._create_event_data(message))
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            # The session, or the client, has ended.
            return
        finally:
            if self._sse_stream_writers.get(key) is events:
                del self._sse_stream_writers[key]


def event_stream_headers(session_id: str) -> dict[str, str]:
    """Return the headers of an answer that is an event stream."""
    return {
        "cache-control": "no-cache, no-transform",
        "connection": "keep-alive",
        "content-type": CONTENT_TYPE_SSE,
        SESSION_HEADER: session_id,
    }


def _request(raw: object) -> types.JSONRPCRequest | None:
    """Return the request in a message, or None; the SDK handles `initialize`."""
    if not isinstance(raw, Mapping) or raw.get("method") == "initialize":
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_python(raw, by_name=False)
    except ValidationError:
        return None
    return message if isinstance(message, types.JSONRPCRequest) else None


def _ends(first: First) -> bool:
    """Return whether the first message is the whole answer."""
    return first.exception() is not None or isinstance(
        first.result().message, types.JSONRPCResponse | types.JSONRPCError
    )
