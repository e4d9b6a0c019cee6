"""Tool calls in HTTP sessions that do not pass the SDK's message loop.

For every message the SDK validates the same values several times, starts tasks and hands copies from stream to stream,
which costs more than most calls do. A plain `tools/call` of a client that has nothing to be asked is answered here: in
JSON if the answer comes at once, else as the same event stream that the SDK would send. Anything else is the SDK's.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import mcp_types as types
from mcp.server.streamable_http import CONTENT_TYPE_JSON, REQUEST_CANCELLED, check_accept_headers
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic_core import to_json
from sse_starlette import EventSourceResponse
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from codeplane.kernel.actor import Progress
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import UnknownOperation
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.mcp.caller import session_caller
from codeplane.surfaces.mcp.request_ids import Key, RequestIds, id_key
from codeplane.surfaces.mcp.session_transport import PROMPT_SEC, SessionTransport, event_stream_headers
from codeplane.surfaces.mcp.tools import Tools, error_text, escape_texts, result_json

_METHOD = "tools/call"
_ENVELOPE = frozenset({"jsonrpc", "id", "method", "params"})
_PARAMS = frozenset({"name", "arguments", "_meta"})
_TRUE = ("1", "true", "yes")
_TERMINATED = "Session terminated before the request completed"

Headers = Mapping[bytes, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A `tools/call` as it came."""

    request_id: types.RequestId
    name: str
    arguments: JsonObject
    progress_token: types.ProgressToken | None = None
    traceparent: str | None = None


class DirectCalls:
    """The calls of one server that are answered here."""

    def __init__(self, *, conveyor: Conveyor, tools: Tools, ids: RequestIds) -> None:
        self._conveyor = conveyor
        self._tools = tools
        self._ids = ids
        self._running: set[asyncio.Task[bytes]] = set()

    def accept(self, scope: Scope, transport: SessionTransport | None, message: object) -> ToolCall | None:
        """Return the call in a message if it can be answered here; None for all that the SDK has to look at."""
        if transport is None or not transport.takes_direct_calls:
            return None
        headers = _first_headers(scope)
        checked = (headers.get(name, b"") for name in (b"accept", b"content-type", b"mcp-protocol-version"))
        return _tool_call(message) if _are_plain(*checked) else None

    async def serve(
        self, call: ToolCall, transport: SessionTransport, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Run the call and answer it; it goes on when its client leaves."""
        outgoing = _Outgoing()
        session = transport.mcp_session_id or ""
        key = session, id_key(call.request_id)
        task = asyncio.create_task(self._answer(call, transport, scope, outgoing.put))
        self._running.add(task)
        self._ids.begin_handler(key)
        transport.calls[key[1]] = task

        def forget_call(task: "asyncio.Task[bytes]") -> None:
            self._running.discard(task)
            self._ids.end_handler(key)
            if transport.calls.get(key[1]) is task:
                del transport.calls[key[1]]
            outgoing.put(None)

        task.add_done_callback(forget_call)
        with transport.in_use():
            await outgoing.wait(PROMPT_SEC)
            if not task.done() or outgoing.has_message:
                events = self._events(outgoing, task, call, transport, key)
                await EventSourceResponse(events, headers=event_stream_headers(session))(scope, receive, send)
                return
            status, body = self._body(task, call, transport)
            # A client that has the answer may use its id again at once.
            self._ids.end_exchange(key)
            headers = [
                (b"content-type", CONTENT_TYPE_JSON.encode()),
                (b"mcp-session-id", session.encode()),
                (b"content-length", str(len(body)).encode()),
            ]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    def cancel(self, transport: SessionTransport | None, message: object) -> None:
        """Cancel the call that a `notifications/cancelled` names."""
        params = message.get("params") if isinstance(message, dict) else None
        named = params.get("requestId") if isinstance(params, dict) else None
        if transport is not None and isinstance(named, int | str) and not isinstance(named, bool):
            task = transport.calls.get(id_key(named))
            if task is not None:
                task.cancel()

    def close(self) -> None:
        """Cancel what still runs when the server ends."""
        for task in self._running:
            task.cancel()

    async def _answer(
        self, call: ToolCall, transport: SessionTransport, scope: Scope, put: Callable[[JsonObject], None]
    ) -> bytes:
        async def report(progress: Progress) -> None:
            if call.progress_token is None:
                return
            params: JsonObject = {"progressToken": call.progress_token, "progress": progress.done}
            params |= {"total": progress.total} if progress.total is not None else {}
            params |= {"message": progress.message} if progress.message is not None else {}
            put({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})

        structured = is_structured(scope["query_string"])
        caller = session_caller(
            _first_headers(scope),
            [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"],
            session_id=transport.mcp_session_id or "",
            client=transport.client_name,
            request_id=scope["state"].get("request_id"),
            traceparent=call.traceparent,
            on_progress=report,
            reads_structure=structured,
        )
        outcome = await self._conveyor.call(call.name, call.arguments, caller)
        return self._encode(call, outcome, structured=structured)

    def _encode(self, call: ToolCall, outcome: Outcome, *, structured: bool) -> bytes:
        # Without an operation it is the tool that is unknown, rather than something an operation was asked about.
        if outcome.operation is None and isinstance(outcome.error, UnknownOperation):
            error = self._tools.unknown_tool(call.name, outcome.error)
            return _error(call, types.INVALID_PARAMS, error_text(error), escape_texts(error.to_wire()))
        return _message(call, b"result", result_json(outcome, structured=structured))

    def _body(self, task: "asyncio.Task[bytes]", call: ToolCall, transport: SessionTransport) -> tuple[int, bytes]:
        """Return the answer of an ended call, with its status."""
        if task.cancelled() and transport.is_terminated:
            error: JsonObject = {"code": types.INTERNAL_ERROR, "message": _TERMINATED}
            return 500, to_json({"jsonrpc": "2.0", "id": None, "error": error})
        if task.cancelled():
            return 200, _error(call, REQUEST_CANCELLED, "Request cancelled")
        failure = task.exception()
        return 200, task.result() if failure is None else _error(call, 0, str(failure))

    async def _events(
        self,
        outgoing: "_Outgoing",
        task: "asyncio.Task[bytes]",
        call: ToolCall,
        transport: SessionTransport,
        key: Key,
    ) -> AsyncIterator[dict[str, str]]:
        """What a client gets as events: what is sent before the answer, and the answer."""
        while (item := await outgoing.get()) is not None:
            yield _event(to_json(item))
        status, body = self._body(task, call, transport)
        self._ids.end_exchange(key)
        if status == 200:
            yield _event(body)


class _Outgoing:
    """What is sent before an answer, in order, and None behind it; read by one task.

    Nearly all calls send nothing: a queue and a timeout of asyncio would cost more than all else about them here.
    """

    __slots__ = ("_changed", "_loop", "_messages")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: deque[JsonObject | None] = deque()
        self._changed: asyncio.Future[None] | None = None

    @property
    def has_message(self) -> bool:
        """Whether something is to be sent before the answer."""
        return bool(self._messages) and self._messages[0] is not None

    def put(self, message: JsonObject | None) -> None:
        """Add a message, or the end."""
        self._messages.append(message)
        self._wake()

    async def wait(self, seconds: float) -> None:
        """Wait, so long at most, until there is something."""
        if not self._messages:
            timer = self._loop.call_later(seconds, self._wake)
            try:
                await self._change()
            finally:
                timer.cancel()

    async def get(self) -> JsonObject | None:
        """Take the next message, or the end."""
        while not self._messages:
            await self._change()
        return self._messages.popleft()

    async def _change(self) -> None:
        self._changed = self._loop.create_future()
        await self._changed

    def _wake(self) -> None:
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)


def _event(data: bytes) -> dict[str, str]:
    return {"event": "message", "data": data.decode()}


def is_structured(query: bytes) -> bool:
    """Return whether a query asks for structured content."""
    return bool(query) and _is_structured(query)


@lru_cache(maxsize=256)
def _is_structured(query: bytes) -> bool:
    return (QueryParams(query).get("structured") or "").lower() in _TRUE


@lru_cache(maxsize=256)
def _are_plain(accept: bytes, content_type: bytes, version: bytes) -> bool:
    """Whether headers are such that no check of the SDK refuses them, and of the protocol with sessions."""
    request = Request({"type": "http", "headers": [(b"accept", accept)]})
    is_json = content_type.partition(b";")[0].strip(b" \t").lower() == CONTENT_TYPE_JSON.encode()
    is_known = not version or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS
    return all(check_accept_headers(request)) and is_json and is_known


def _first_headers(scope: Scope) -> Headers:
    """Return the headers by name; of several with one name the first counts."""
    return dict(reversed(scope["headers"]))


def _tool_call(message: object) -> ToolCall | None:
    if not isinstance(message, dict) or message.keys() != _ENVELOPE or message["method"] != _METHOD:
        return None
    params, request_id = message["params"], message["id"]
    if message["jsonrpc"] != "2.0" or not isinstance(params, dict) or not params.keys() <= _PARAMS:
        return None
    name, arguments, meta = params.get("name"), params.get("arguments", {}), params.get("_meta", {})
    if not (isinstance(name, str) and isinstance(arguments, dict) and isinstance(meta, dict)):
        return None
    token, traceparent = meta.get("progressToken"), meta.get("traceparent")
    if token is not None and (isinstance(token, bool) or not isinstance(token, int | str)):
        return None
    return ToolCall(
        request_id=cast(types.RequestId, request_id),
        name=name,
        arguments=arguments,
        progress_token=token,
        traceparent=traceparent if isinstance(traceparent, str) else None,
    )


def _message(call: ToolCall, name: bytes, content: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"%b":%b}' % (to_json(call.request_id), name, content)


def _error(call: ToolCall, code: int, message: str, data: JsonObject | None = None) -> bytes:
    error: JsonObject = {"code": code, "message": message}
    return _message(call, b"error", to_json(error if data is None else {**error, "data": data}))
