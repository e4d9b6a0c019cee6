"""The MCP server: tools and resources projected from the catalogue, over HTTP and byte streams."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from codeplane.kernel.actor import Caller, Progress
from codeplane.kernel.conveyor import Conveyor
from codeplane.kernel.errors import CodePlaneError, NotFound, UnknownOperation
from codeplane.kernel.json import JsonObject
from codeplane.kernel.operation import Operation
from codeplane.kernel.schema import input_schema
from codeplane.surfaces.mcp.resources import Resources
from codeplane.surfaces.mcp.tools import call_result, error_text, tool

CONNECTION_HEADER = "x-codeplane-connection"
INSTRUCTIONS = (
    "CodePlane knows this repository and changes it safely. Prefer its tools over shell commands for what they cover. "
    "Every answer names what it speaks of; an error's hint says what to send instead."
)

Context = ServerRequestContext[dict[str, object], Request]


class McpSurface:
    """Speaks MCP for the conveyor; one instance a server, run once."""

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
    ) -> None:
        self._conveyor = conveyor
        self._resources = resources
        self._default_toolset = default_toolset
        self._on_disconnect = on_disconnect
        self.server: Server[dict[str, object]] = Server(
            "codeplane",
            version=version,
            title="CodePlane",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=self._input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )
        # SSE mode: with JSON responses progress and elicitation would be lost.
        self._manager = StreamableHTTPSessionManager(
            self.server,
            session_idle_timeout=session_idle_sec,
            max_request_body_size=max_body_bytes,
            max_sessions=max_sessions,
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """The time during which clients are served."""
        async with self._manager.run():
            yield

    async def http(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The ASGI application at `/mcp`."""
        ended: str | None = None
        if scope["method"] == "DELETE":
            ended = Request(scope).headers.get("mcp-session-id")
        status = 0

        async def watch(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._manager.handle_request(scope, receive, watch)
        if ended is not None and status < 300:
            self._on_disconnect(ended)

    def disconnected(self, connection_id: str) -> None:
        """A byte stream ended."""
        self._on_disconnect(connection_id)

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        structured = _structured(ctx)
        return types.ListToolsResult(tools=[tool(found, structured=structured) for found in self._tools(ctx)])

    def _input_schema(self, name: str) -> JsonObject | None:
        try:
            return input_schema(self._conveyor.catalogue.get(name))
        except UnknownOperation:
            return None

    def _tools(self, ctx: Context) -> list[Operation]:
        wanted = (_query(ctx, "toolset") or self._default_toolset).split(",")
        return [found for found in self._conveyor.catalogue.toolset(wanted) if not found.streaming]

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments: JsonObject = params.arguments or {}
        outcome = await self._conveyor.call(params.name, arguments, self._caller(ctx))
        if isinstance(outcome.error, UnknownOperation):
            raise _protocol_error(outcome.error)
        return call_result(outcome, structured=_structured(ctx))

    async def _list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=self._resources.listed())

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=self._resources.templates())

    async def _read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            return await self._resources.read(str(params.uri), self._caller(ctx))
        except NotFound as error:
            raise MCPError(code=-32602, message=error_text(error), data={"uri": str(params.uri)}) from error
        except CodePlaneError as error:
            raise _protocol_error(error) from error

    def _caller(self, ctx: Context) -> Caller:
        client = ctx.session.client_params.client_info.name if ctx.session.client_params else None
        request = ctx.request
        connection = None
        if request is not None:
            connection = request.headers.get("mcp-session-id") or request.headers.get(CONNECTION_HEADER)

        async def report(progress: Progress) -> None:
            await ctx.session.report_progress(progress.done, progress.total, progress.message)

        return Caller(
            surface="mcp",
            connection_id=connection,
            client=_plain(client),
            token=_bearer(request),
            on_progress=report,
        )


def _bearer(request: Request | None) -> str | None:
    header = request.headers.get("authorization", "") if request is not None else ""
    return header[7:].strip() if header.lower().startswith("bearer ") else None


def _plain(name: str | None) -> str | None:
    """A client's name, fit for a log: it is whatever the client says."""
    if not name:
        return None
    return "".join(char if char.isprintable() else "?" for char in name[:80])


def _query(ctx: Context, name: str) -> str | None:
    return ctx.request.query_params.get(name) if ctx.request is not None else None


def _structured(ctx: Context) -> bool:
    return (_query(ctx, "structured") or "").lower() in ("1", "true", "yes")


def _protocol_error(error: CodePlaneError) -> MCPError:
    code = -32602 if isinstance(error, UnknownOperation) else -32000
    return MCPError(code=code, message=error_text(error), data=error.to_wire())
