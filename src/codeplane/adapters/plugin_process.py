"""Plugins: programs that answer calls over JSON lines, are sent events, and call operations themselves."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from codeplane.adapters.line_process import LineProcess, ProgramStart, start_program
from codeplane.kernel.config import ToolsConfig
from codeplane.kernel.errors import CodePlaneError, Overloaded, ToolAnswerRefused
from codeplane.kernel.external_tool import (
    ExternalTool,
    PluginHost,
    ReportProgress,
    ToolAnswer,
    ToolListener,
    ToolSession,
    bounded_answer,
)
from codeplane.kernel.json import JsonObject, JsonValue, dumps

PROTOCOL = 1
_MAX_GARBAGE = 100
_MAX_REQUESTS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginConnector:
    """Starts one plugin; its tools are those that the settings declare."""

    name: str
    start: Callable[[], ProgramStart]
    tools: tuple[ExternalTool, ...]
    host: PluginHost
    config: ToolsConfig
    is_confined: bool

    def connect(self, listener: ToolListener) -> AbstractAsyncContextManager[ToolSession]:
        return self._connect(listener)

    @asynccontextmanager
    async def _connect(self, listener: ToolListener) -> AsyncIterator[ToolSession]:
        given = await asyncio.to_thread(self.start)
        async with start_program(given, max_line=self.config.message_kb * 1024) as process:
            session = PluginSession(process, self, listener)
            tasks = [asyncio.ensure_future(session.read()), asyncio.ensure_future(session.send_events())]
            try:
                await session.greet()
                yield session
            finally:
                for task in (*tasks, *session.requests):
                    task.cancel()
                await asyncio.wait(tasks)


class PluginSession:
    """A plugin that runs."""

    def __init__(self, process: LineProcess, connector: PluginConnector, listener: ToolListener) -> None:
        self._process = process
        self._connector = connector
        self._listener = listener
        self._ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting: dict[int, asyncio.Future[JsonObject]] = {}
        self._progress: dict[int, ReportProgress] = {}
        self._last_id = 0
        # Its own calls of operations.
        self.requests: set[asyncio.Future[None]] = set()

    async def greet(self) -> None:
        """Tell the plugin who it is."""
        tools: list[JsonValue] = [tool.name for tool in self._connector.tools]
        hello: JsonObject = {"protocol": PROTOCOL, "plugin": self._connector.name, "tools": tools}
        await self._send({"hello": hello})

    async def list_tools(self) -> tuple[ExternalTool, ...]:
        return self._connector.tools

    async def call(self, tool: str, arguments: JsonObject, on_progress: ReportProgress) -> ToolAnswer:
        self._last_id += 1
        number = self._last_id
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._progress[number] = on_progress
        try:
            await self._send({"id": number, "call": tool, "arguments": arguments})
            answer = await waiting
        except asyncio.CancelledError:
            await self._send({"id": number, "cancel": True})
            raise
        finally:
            del self._waiting[number], self._progress[number]
        failure = answer.get("error")
        if failure is not None:
            text = failure if isinstance(failure, str) else dumps(failure)
            return bounded_answer(text, self._connector.config, is_error=True)
        result = answer.get("result")
        return bounded_answer(result if isinstance(result, str) else dumps(result), self._connector.config)

    async def wait_closed(self) -> str:
        return await asyncio.shield(self._ended)

    async def read(self) -> None:
        """Take in its lines until it ends."""
        garbage = 0
        try:
            async for line in self._process.lines():
                if not await self._take(line):
                    garbage += 1
                    self._listener.problem(f"a line that is no message: {line[:100]!r}")
                    if garbage > _MAX_GARBAGE:
                        raise ToolAnswerRefused(f"{_MAX_GARBAGE} lines were no messages")
            reason = await self._process.wait()
        except CodePlaneError as error:
            reason = error.message
        if not self._ended.done():
            self._ended.set_result(reason)

    async def send_events(self) -> None:
        """Send it the events that it asked for and may see."""
        try:
            async for event in self._connector.host.events():
                await self._send({"event": event})
        except CodePlaneError as error:
            self._listener.problem(f"it is sent no events: {error.message}")

    async def _take(self, line: bytes) -> bool:
        """Take in a message; False when it is none."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return False
        if not isinstance(message, dict):
            return False
        number = message.get("id")
        if isinstance(message.get("operation"), str):
            await self._start_request(message)
            return True
        if not isinstance(number, int) or (waiting := self._waiting.get(number)) is None:
            # The answer to a call that was given up.
            return isinstance(number, int) and 0 < number <= self._last_id
        if isinstance(progress := message.get("progress"), dict):
            done, total, text = progress.get("done"), progress.get("total"), progress.get("message")
            if isinstance(done, int | float):
                shown = text if isinstance(text, str) else None
                await self._progress[number](done, total if isinstance(total, int | float) else None, shown)
            return True
        if ("result" in message or "error" in message) and not waiting.done():
            waiting.set_result(message)
            return True
        return False

    async def _start_request(self, message: JsonObject) -> None:
        if len(self.requests) >= _MAX_REQUESTS:
            error = Overloaded(f"a plugin makes at most {_MAX_REQUESTS} calls at once")
            # Here and now: of a plugin that does not read its answers, no further questions are read.
            await self._send({"id": message.get("id"), "error": error.to_wire()})
            return
        self._run(self._answer_request(message))

    def _run(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self.requests.add(task)
        task.add_done_callback(self.requests.discard)

    async def _answer_request(self, message: JsonObject) -> None:
        given = message.get("arguments")
        arguments: JsonObject = given if isinstance(given, dict) else {}
        outcome = await self._connector.host.call(str(message["operation"]), arguments)
        await self._send({"id": message.get("id"), **outcome})

    async def _send(self, message: JsonObject) -> None:
        await self._process.send(dumps(message).encode())
