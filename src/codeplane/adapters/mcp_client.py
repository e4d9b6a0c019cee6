"""MCP servers reached as a client: over the pipes of a program, or over HTTP.

`mcp` takes seconds to import, so that is done when the first server is connected.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from codeplane.kernel.config import ToolsConfig
from codeplane.kernel.errors import CodePlaneError, ToolAnswerRefused, ToolServerUnavailable
from codeplane.kernel.external_tool import (
    ExternalTool,
    ReportProgress,
    ToolAnswer,
    ToolHints,
    ToolListener,
    ToolSession,
    bounded_answer,
)
from codeplane.kernel.invisible_text import escape_invisible
from codeplane.kernel.json import JsonObject, JsonValue, dumps

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client._transport import Transport
    from mcp_types import CallToolResult, Tool

_MAX_PAGES = 20
_MAX_QUESTIONS, _MINUTE_SEC = 100, 60.0
_LIST_SEC = 30.0
_CLIENT = "codeplane"


class OpenTransport(Protocol):
    """Opens what carries messages to a server."""

    def __call__(self, listener: ToolListener, ended: "asyncio.Future[str]") -> "Transport":
        """A transport; it says in `ended` why the server is gone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class McpConnector:
    """Reaches one MCP server."""

    open: OpenTransport
    config: ToolsConfig
    version: str
    is_confined: bool = False
    # Says why a connection failed, where the error of the library does not.
    explain: Callable[[BaseException], CodePlaneError | None] = lambda error: None

    def connect(self, listener: ToolListener) -> AbstractAsyncContextManager[ToolSession]:
        return self._connect(listener)

    @asynccontextmanager
    async def _connect(self, listener: ToolListener) -> AsyncIterator[ToolSession]:
        await asyncio.to_thread(_import_library)
        import mcp_types as types
        from mcp import Client

        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def on_message(message: object) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                listener.tools_changed()

        # Without callbacks for them, questions for a model or a person are refused, and so are the folders of ours.
        client = Client(
            self.open(listener, ended),
            client_info=types.Implementation(name=_CLIENT, version=self.version),
            message_handler=on_message,
            read_timeout_seconds=self.config.start_sec,
            cache=None,
        )
        watching: asyncio.Future[None] | None = None
        try:
            async with client:
                session = McpSession(client, ended, self.config, listener)
                watching = asyncio.ensure_future(session.watch_changes(listener))
                try:
                    yield session
                finally:
                    watching.cancel()
                    await asyncio.wait({watching})
        except Exception as error:
            raise self._failure(error, ended) from error

    def _failure(self, error: BaseException, ended: "asyncio.Future[str]") -> CodePlaneError:
        for cause in _causes(error):
            if isinstance(cause, CodePlaneError):
                return cause
            if (explained := self.explain(cause)) is not None:
                return explained
        if ended.done():
            return ToolServerUnavailable(escape_invisible(ended.result()))
        innermost = list(_causes(error))[-1]
        return ToolServerUnavailable(f"{type(innermost).__name__}: {str(innermost)[:300]}")


class QuestionLimit:
    """Counts the requests of a server in the last minute: each is answered, and it need not read the answers."""

    def __init__(self, listener: ToolListener) -> None:
        self._listener = listener
        self._since = 0.0
        self._count = 0

    def take(self, method: str) -> None:
        """Count one more; ToolAnswerRefused when there are too many."""
        now = asyncio.get_running_loop().time()
        if now - self._since > _MINUTE_SEC:
            self._since, self._count = now, 0
        self._count += 1
        if self._count > _MAX_QUESTIONS:
            raise ToolAnswerRefused(f"it asked more than {_MAX_QUESTIONS} questions in a minute")
        # The library refuses them, since it was given nobody to ask.
        self._listener.problem(f"it asked for {method[:100]}, which is refused")


class McpSession:
    """A server that has introduced itself."""

    def __init__(
        self, client: "Client", ended: "asyncio.Future[str]", config: ToolsConfig, listener: ToolListener
    ) -> None:
        self._client = client
        self._listener = listener
        self._ended = ended
        self._config = config

    async def list_tools(self) -> tuple[ExternalTool, ...]:
        import mcp_types as types
        from pydantic import ValidationError

        tools: list[ExternalTool] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            # Not by the library's own method, which compiles the servers' schemas of answers, of any cost.
            try:
                page = await self._client.session.send_request(
                    types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor)),
                    types.ListToolsResult,
                    request_read_timeout_seconds=_LIST_SEC,
                )
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                where = ".".join(map(str, first["loc"]))
                raise ToolAnswerRefused(
                    f"the list of tools is not as the protocol has it: {where}: {first['msg']}"
                ) from error
            tools += map(_external, page.tools[: self._config.max_tools + 1])
            cursor = page.next_cursor
            if cursor is None or len(tools) > self._config.max_tools:
                break
        return tuple(tools)

    async def call(self, tool: str, arguments: JsonObject, on_progress: ReportProgress) -> ToolAnswer:
        import mcp_types as types
        from mcp import MCPError
        from pydantic import TypeAdapter, ValidationError

        answers: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
            types.CallToolResult | types.InputRequiredResult
        )

        async def report(progress: float, total: float | None, message: str | None) -> None:
            await on_progress(progress, total, message)

        try:
            result = await self._client.session.send_request(
                types.CallToolRequest(params=types.CallToolRequestParams(name=tool, arguments=dict(arguments))),
                answers,
                # The caller limits the time.
                request_read_timeout_seconds=86_400.0,
                progress_callback=report,
            )
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise ToolServerUnavailable("the server closed the connection") from None
            # Perhaps it has no such tool any more, or does not know us any more, which shows when it is asked.
            self._listener.tools_changed()
            # What it says is not ours, like all of its answers.
            return bounded_answer(f"{error.message} ({error.code})", self._config, is_error=True)
        except (ValidationError, ValueError):
            raise ToolAnswerRefused("the tool answered with something that is no result") from None
        if isinstance(result, types.InputRequiredResult):
            raise ToolAnswerRefused(
                "the tool asked for input of a person or a model, which is not given to outside tools",
                hint="call it with all that it needs in its arguments",
            )
        return bounded_answer(_text(result), self._config, is_error=bool(result.is_error))

    async def wait_closed(self) -> str:
        return await asyncio.shield(self._ended)

    async def watch_changes(self, listener: ToolListener) -> None:
        """Subscribe to changes of the list if the protocol has that; else the server notifies unasked."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
        from mcp.shared.exceptions import MCPError

        try:
            async with self._client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    listener.tools_changed()
        except (ListenNotSupportedError, MCPError, SubscriptionLost, TimeoutError):
            return


def _import_library() -> None:
    import mcp
    import mcp_types

    assert mcp and mcp_types


def _external(tool: "Tool") -> ExternalTool:
    hints = tool.annotations
    schema: JsonObject = dict(tool.input_schema)
    return ExternalTool(
        name=tool.name,
        description=tool.description or tool.title or "",
        schema=schema,
        hints=ToolHints()
        if hints is None
        else ToolHints(
            read_only=hints.read_only_hint, destructive=hints.destructive_hint, open_world=hints.open_world_hint
        ),
    )


def _text(result: "CallToolResult") -> str:
    """The answer as text; what is none is named with its size."""
    parts: list[str] = []
    for block in result.content:
        if block.type == "text":
            parts.append(block.text)
        elif block.type == "image" or block.type == "audio":
            parts.append(f"[{block.type} of type {block.mime_type}, {len(block.data) * 3 // 4} bytes, not shown]")
        elif block.type == "resource_link":
            parts.append(f"[link to {block.uri}]")
        elif block.type == "resource":
            text = getattr(block.resource, "text", None)
            parts.append(text if isinstance(text, str) else f"[resource {block.resource.uri}, not shown]")
    structured: JsonValue = result.structured_content
    if structured is not None and not parts:
        parts.append(dumps(structured))
    return "\n".join(parts)


def _causes(error: BaseException) -> "list[BaseException]":
    """The error, those in its group and those behind it."""
    found: list[BaseException] = []
    left = [error]
    while left and len(found) < 50:
        one = left.pop(0)
        found.append(one)
        if isinstance(one, BaseExceptionGroup):
            left += one.exceptions
        if (cause := one.__cause__ or one.__context__) is not None and cause not in found:
            left.append(cause)
    return found
