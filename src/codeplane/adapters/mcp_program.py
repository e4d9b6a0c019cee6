"""MCP messages over the pipes of a program."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from codeplane.adapters.line_process import LineProcess, ProgramStart, start_program
from codeplane.adapters.mcp_client import OpenTransport, QuestionLimit
from codeplane.kernel.errors import ToolAnswerRefused, ToolServerUnavailable
from codeplane.kernel.external_tool import ToolListener

if TYPE_CHECKING:
    from mcp.client._transport import Transport, TransportStreams

_MAX_GARBAGE = 100


def program_transport(start: Callable[[], ProgramStart], *, max_line: int) -> OpenTransport:
    """The pipes of a program; `start` says what to start, and may block."""

    def open_transport(listener: ToolListener, ended: "asyncio.Future[str]") -> "Transport":
        return _program_streams(start, max_line, listener, ended)

    return open_transport


@asynccontextmanager
async def _program_streams(
    start: Callable[[], ProgramStart], max_line: int, listener: ToolListener, ended: "asyncio.Future[str]"
) -> "AsyncIterator[TransportStreams]":
    import anyio
    import mcp_types as types
    from mcp.shared.message import SessionMessage

    given = await asyncio.to_thread(start)
    to_session, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    from_session, to_server = anyio.create_memory_object_stream[SessionMessage](16)

    async def read(process: LineProcess) -> None:
        garbage, questions = 0, QuestionLimit(listener)
        try:
            async for line in process.lines():
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except (ValueError, RecursionError):
                    garbage += 1
                    if garbage > _MAX_GARBAGE:
                        raise ToolAnswerRefused(f"{_MAX_GARBAGE} lines were no messages") from None
                    listener.problem(f"a line that is no message: {line[:100]!r}")
                    continue
                if isinstance(message, types.JSONRPCRequest):
                    questions.take(message.method)
                await to_session.send(SessionMessage(message))
            reason = await process.wait()
        except ToolAnswerRefused as error:
            reason = error.message
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        if not ended.done():
            ended.set_result(reason)
        to_session.close()

    async def write(process: LineProcess) -> None:
        async for message in to_server:
            try:
                await process.send(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode())
            except ToolServerUnavailable as error:
                if not ended.done():
                    ended.set_result(error.message)
                to_session.close()
                return

    async with start_program(given, max_line=max_line) as process:
        tasks = [asyncio.ensure_future(read(process)), asyncio.ensure_future(write(process))]
        try:
            yield from_server, from_session
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            for stream in (to_session, from_server, from_session, to_server):
                stream.close()
