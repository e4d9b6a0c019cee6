"""The MCP SDK alone behind uvicorn: what a call costs before any of our code runs.

`python -m bench.sdk_server [ANSWERS]` prints its port and serves until its standard input is closed. Its tool adds one
to a number; with a file of answers it has a tool of each name in there instead, which gives the answers in turn.
"""

import asyncio
import itertools
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import mcp_types as types
import uvicorn
import uvloop
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request

Context = ServerRequestContext[dict[str, object], Request]


async def _call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    value = (params.arguments or {}).get("value")
    assert isinstance(value, int)
    text = types.TextContent(text=str(value + 1))
    return types.CallToolResult(content=[text], structured_content={"value": value + 1})


Tool = Callable[[Context, types.CallToolRequestParams], Awaitable[types.CallToolResult]]
_ANY: dict[str, object] = {"type": "object"}
_SCHEMA: dict[str, object] = {"type": "object", "properties": {"value": {"type": "integer"}}}


async def _list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="bench_read", input_schema=_SCHEMA)])


class _Quiet(uvicorn.Server):
    """uvicorn that leaves the signals to others and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


def _answering(answers: Mapping[str, Sequence[dict[str, object]]]) -> Tool:
    """A tool that makes its result again at each call, of an answer that it was given, and does nothing else."""
    turns = {name: itertools.cycle(results) for name, results in answers.items()}

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        result = next(turns[params.name])
        content = [types.TextContent(text=part["text"]) for part in result["content"]]  # type: ignore[attr-defined]
        return types.CallToolResult(
            content=list(content),
            structured_content=result.get("structuredContent"),
        )

    return call_tool


@asynccontextmanager
async def serving_sdk(call_tool: Tool = _call_tool) -> AsyncIterator[tuple[str, int]]:
    """A server of the SDK with one tool, for as long as the block runs; gives its host and port."""
    server: Server[dict[str, object]] = Server(
        # With the schema at hand, as ours has it: without, the SDK lists all tools to find it, at every call.
        "bare",
        on_call_tool=call_tool,
        on_list_tools=_list_tools,
        get_tool_input_schema=lambda name: _SCHEMA if name == "bench_read" else _ANY,
    )
    manager = StreamableHTTPSessionManager(server)
    listener = socket.create_server(("127.0.0.1", 0))
    web = _Quiet(
        uvicorn.Config(
            manager.handle_request,
            interface="asgi3",
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
        )
    )
    async with manager.run():
        running = asyncio.ensure_future(web._serve([listener]))
        await web.listening.wait()
        yield "127.0.0.1", listener.getsockname()[1]
        web.should_exit = True
        await running


async def main() -> None:
    """Serve until the parent is gone."""
    call_tool = (
        _answering(json.loads(await asyncio.to_thread(Path(sys.argv[1]).read_text))) if sys.argv[1:] else _call_tool
    )
    async with serving_sdk(call_tool) as (_, port):
        print(port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(main())
