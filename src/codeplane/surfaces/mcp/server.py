"""The MCP server: tools and resources projected from the catalogue, over HTTP and byte streams."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import Message, Receive, Scope, Send

from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.deferred_call import DeferredCalls
from codeplane.kernel.envelope import Outcome
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, NotFound, OperationDisabled, UnknownOperation
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.mcp.apps import ALWAYS_LISTED, EXTENSION, declares_apps, has_view, with_views
from codeplane.surfaces.mcp.caller import SESSION_HEADER, Context, caller_of, http_session
from codeplane.surfaces.mcp.direct_calls import DirectCalls, is_structured
from codeplane.surfaces.mcp.elicitation import input_required, person_asker, resumed_arguments
from codeplane.surfaces.mcp.request_ids import (
    RequestIds,
    duplicate_response,
    id_key,
    invalid_id_response,
    is_answer,
    parse_json,
    read_body,
    request_id_of,
)
from codeplane.surfaces.mcp.resources import Resources
from codeplane.surfaces.mcp.session_manager import SessionManager
from codeplane.surfaces.mcp.session_transport import MESSAGE
from codeplane.surfaces.mcp.tasks import TaskMethods, declares_tasks
from codeplane.surfaces.mcp.tool_changes import ToolChanges
from codeplane.surfaces.mcp.tools import Tools, call_result, error_text, escape_texts

_CANCELLED = "notifications/cancelled"
INSTRUCTIONS = (
    "CodePlane knows this repository and changes it safely. Prefer its tools over shell commands for what they cover. "
    "Every answer names what it speaks of; an error's hint says what to send instead."
)


class _McpServer(Server[dict[str, object]]):
    """The SDK's server, which says that tools may change, and that nothing else is notified.

    Clients of the protocol with sessions see no extensions, which belong to the newer one.
    """

    def get_capabilities(
        self, notification_options: NotificationOptions | None = None, *rest: Any, **named: Any
    ) -> types.ServerCapabilities:
        """Return the capabilities."""
        options = notification_options or NotificationOptions()
        options.tools_changed = True
        found = super().get_capabilities(options, *rest, **named)
        resources = types.ResourcesCapability(subscribe=False, list_changed=False)
        is_modern = named.get("protocol_version") in MODERN_PROTOCOL_VERSIONS
        extensions = found.extensions if is_modern else None
        return found.model_copy(update={"resources": resources, "extensions": extensions})


class McpSurface:
    """The MCP server in front of the conveyor; one instance a server, run once."""

    def __init__(
        self,
        *,
        conveyor: Conveyor,
        resources: Resources,
        version: str,
        default_toolset: str,
        session_idle_sec: float,
        max_body_bytes: int,
        max_sessions: int,
        on_disconnect: Callable[[str], None],
        deferred: DeferredCalls,
    ) -> None:
        self._conveyor = conveyor
        self._tools = Tools(conveyor.catalogue, default_toolset=default_toolset)
        self._resources = resources
        self._on_disconnect = on_disconnect
        self._changes = ToolChanges(conveyor.catalogue, max_streams=max_sessions)
        self.server: Server[dict[str, object]] = _McpServer(
            "codeplane",
            version=version,
            title="CodePlane",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=self._tools.input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscriptions_listen=self._changes.listen,
        )
        self._tasks = TaskMethods(deferred, lambda ctx, outcome: self._result(ctx, outcome))
        self._tasks.serve_on(self.server)
        self.server.extensions[EXTENSION] = {}
        self.server.middleware.append(self._changes.note_connection)
        # What a client brings back for the second round of a call is what it was given.
        self.server.middleware.append(
            RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="codeplane")
        )
        self._ids = RequestIds()
        self.server.middleware.append(self._ids.middleware)
        self._manager = SessionManager(
            self.server,
            session_idle_timeout=session_idle_sec,
            max_request_body_size=max_body_bytes,
            max_sessions=max_sessions,
        )
        self.server.middleware.append(self._manager.note_client)
        self._direct = DirectCalls(conveyor=conveyor, tools=self._tools, ids=self._ids)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve clients within the context."""
        async with self._manager.run():
            try:
                yield
            finally:
                self._changes.close()
                self._direct.close()

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request to `/mcp`."""
        session = _session_id(scope)
        if scope["method"] != "POST" or session is None:
            await self._handle(scope, receive, send)
            return
        body, receive = await read_body(receive)
        message = parse_json(body)
        scope[MESSAGE] = message
        request_id = request_id_of(message)
        if request_id is None and isinstance(message, dict) and message.keys() >= {"id", "method"}:
            await invalid_id_response(session)(scope, receive, send)
            return
        transport = self._manager.session_for(scope, session)
        if request_id is None:
            if isinstance(message, dict) and message.get("method") == _CANCELLED:
                self._direct.cancel(transport, message)
            await self._handle(scope, receive, send)
            return
        key = session, id_key(request_id)
        if not self._ids.take(key):
            await duplicate_response(request_id, session)(scope, receive, send)
            return

        async def free_before_answer(message: Message) -> None:
            # A client that has the answer may use its id again at once.
            if message["type"] == "http.response.body" and is_answer(message.get("body", b"")):
                self._ids.end_exchange(key)
            await send(message)

        try:
            call = self._direct.accept(scope, transport, message)
            if call is not None and transport is not None:
                await self._direct.serve(call, transport, scope, receive, send)
            else:
                await self._handle(scope, receive, free_before_answer)
        finally:
            self._ids.end_exchange(key)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        ended = _session_id(scope) if scope["method"] == "DELETE" else None

        async def watch(message: Message) -> None:
            # Before the client hears that its session ended, so that it finds it ended everywhere.
            if ended is not None and message["type"] == "http.response.start" and message["status"] < 300:
                self._on_disconnect(http_session(ended))
            await send(message)

        await self._manager.handle_request(scope, receive, watch)

    def end_connection(self, connection_id: str) -> None:
        """Handle the end of a byte stream."""
        self._on_disconnect(connection_id)

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        try:
            structured, has_apps = _wants_structured(ctx), declares_apps(ctx)
            tools = self._tools.list_tools(
                _query(ctx, "toolset"), structured=structured, also=ALWAYS_LISTED if has_apps else ()
            )
        except (InvalidArgument, OperationDisabled) as error:
            raise _invalid(error, escape_texts(error.to_wire())) from error
        return types.ListToolsResult(tools=with_views(tools) if has_apps else tools)

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        asker = person_asker(ctx, params)
        caller = replace(caller_of(ctx), ask=asker, reads_structure=_wants_structured(ctx))
        if declares_tasks(ctx) and params.request_state is None:
            result = await self._tasks.call(ctx, params.name, resumed_arguments(params), caller)
            if not isinstance(result, Outcome):
                # The SDK knows no result of this type, and sends what an extension returns as it is.
                return cast(types.CallToolResult, result)
            outcome = result
        else:
            outcome = await self._conveyor.call(params.name, resumed_arguments(params), caller)
        # Without an operation it is the tool that is unknown, rather than something an operation was asked about.
        if outcome.operation is None and isinstance(outcome.error, UnknownOperation):
            error = self._tools.unknown_tool(params.name, outcome.error)
            raise _invalid(error, escape_texts(error.to_wire()))
        return input_required(asker, outcome) or self._result(ctx, outcome)

    def _result(self, ctx: Context, outcome: Outcome) -> types.CallToolResult:
        shown = outcome.operation is not None and has_view(outcome.operation.tool) and declares_apps(ctx)
        return call_result(outcome, structured=shown or _wants_structured(ctx))

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=self._resources.list_resources())

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=self._resources.templates())

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            return await self._resources.read(uri, caller_of(ctx))
        except NotFound as error:
            raise _invalid(error, {"uri": uri}) from error
        except CodePlaneError as error:
            raise MCPError(code=-32000, message=error_text(error), data=escape_texts(error.to_wire())) from error


def _session_id(scope: Scope) -> str | None:
    name = SESSION_HEADER.encode()
    return next((value.decode("latin-1") for header, value in scope["headers"] if header == name), None)


def _query(ctx: Context, name: str) -> str | None:
    return ctx.request.query_params.get(name) if ctx.request is not None else None


def _wants_structured(ctx: Context) -> bool:
    return ctx.request is not None and is_structured(ctx.request.scope["query_string"])


def _invalid(error: CodePlaneError, data: JsonObject) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=error_text(error), data=data)
