"""JSON-RPC in both directions over the lines of a program: requests, answers and notifications, all bounded."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from codeplane.adapters.line_process import LineProcess
from codeplane.kernel.errors import (
    CodePlaneError,
    OutsideAgentFailed,
    OutsideAgentRefused,
    ToolAnswerRefused,
    ToolServerUnavailable,
)
from codeplane.kernel.json import JsonObject, JsonValue, dumps

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
RESOURCE_NOT_FOUND = -32002
_REFUSED = -32000
_MAX_GARBAGE = 100
_MAX_REQUESTS = 64
_MAX_SHOWN = 500
# JSON that Python reads and nothing can store: 1e999, numbers of many digits, objects in each other without end.
_UNFIT = (ValueError, OverflowError, RecursionError)

Handle = Callable[[str, JsonObject], Awaitable[JsonObject]]
Notify = Callable[[str, JsonObject], Awaitable[None]]


class RpcError(Exception):
    """An error that the other side answered with, or is to be answered with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message[:_MAX_SHOWN]


@dataclass(slots=True, kw_only=True)
class JsonRpcPeer:
    """One end of a conversation; `run` reads until the program ends."""

    process: LineProcess
    handle: Handle
    notify: Notify
    problem: Callable[[str], None]
    # Of all lines together.
    max_bytes: int
    _waiting: dict[int, "asyncio.Future[JsonObject]"] = field(default_factory=dict)
    _handling: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    _next_id: int = 0
    _read_bytes: int = 0
    _garbage: int = 0

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask, and wait for the answer; RpcError for one that is an error."""
        self._next_id += 1
        request_id = self._next_id
        waiting: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = waiting
        try:
            await self._send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
            return await waiting
        finally:
            self._waiting.pop(request_id, None)

    async def tell(self, method: str, params: JsonObject) -> None:
        """Send a notification."""
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def run(self) -> CodePlaneError:
        """Take messages until the program ends or misbehaves; return the reason."""
        try:
            async for line in self.process.lines():
                self._read_bytes += len(line)
                if self._read_bytes > self.max_bytes:
                    raise OutsideAgentRefused(f"it sent more than {self.max_bytes:,} bytes in one turn")
                await self._take(line)
            return OutsideAgentFailed(await self.process.wait())
        except ToolAnswerRefused as error:
            return OutsideAgentRefused(error.message)
        except CodePlaneError as error:
            return error

    def fail(self, error: CodePlaneError) -> None:
        """End all that wait for an answer."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(error)
                # The waiting caller may have gone.
                waiting.exception()

    async def close(self) -> None:
        """End what the other side has asked for and not been answered."""
        tasks = [*self._handling.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            if b"\\ud" in line or b"\\uD" in line:
                message = _whole(message)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            self._ignore(f"a line that is no message: {line[:100]!r}")
            return
        method, request_id, params = message.get("method"), message.get("id"), message.get("params")
        values: JsonObject = params if isinstance(params, dict) else {}
        if not isinstance(method, str):
            self._take_answer(message)
        elif request_id is None:
            try:
                await self.notify(method, values)
            except _UNFIT as error:
                self._ignore(f"a message that cannot be recorded: {type(error).__name__}")
        else:
            await self._take_request(request_id, method, values)

    def _ignore(self, problem: str) -> None:
        """Report a line that says nothing; a program that sends many is given up."""
        self._garbage += 1
        if self._garbage > _MAX_GARBAGE:
            raise OutsideAgentRefused(f"{_MAX_GARBAGE} lines were no messages")
        self.problem(problem)

    def _take_answer(self, message: JsonObject) -> None:
        request_id = message.get("id")
        waiting = self._waiting.get(request_id) if isinstance(request_id, int) else None
        if waiting is None or waiting.done():
            self.problem(f"an answer to nothing: {str(request_id)[:50]}")
            return
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            code = error.get("code")
            reason = error.get("message")
            detail = error.get("data")
            more = f": {dumps(detail)[:_MAX_SHOWN]}" if detail else ""
            waiting.set_exception(RpcError(code if isinstance(code, int) else INTERNAL, f"{reason}{more}"))
        else:
            waiting.set_result(result if isinstance(result, dict) else {})

    async def _take_request(self, request_id: JsonValue, method: str, params: JsonObject) -> None:
        key = dumps(request_id)[:200]
        if key in self._handling:
            await self._answer_error(request_id, INVALID_REQUEST, f"request {key} is being answered already")
            return
        if len(self._handling) >= _MAX_REQUESTS:
            await self._answer_error(request_id, _REFUSED, f"{_MAX_REQUESTS} requests are being answered already")
            return
        task = self._handling[key] = asyncio.ensure_future(self._respond(request_id, method, params))
        task.add_done_callback(lambda _: self._handling.pop(key, None))

    async def _respond(self, request_id: JsonValue, method: str, params: JsonObject) -> None:
        try:
            result = await self.handle(method, params)
        except RpcError as error:
            await self._answer_error(request_id, error.code, error.message)
        except CodePlaneError as error:
            await self._answer_error(request_id, _REFUSED, f"{error.name}: {error.message}")
        except _UNFIT as error:
            # Without an answer the program would wait for ever.
            self.problem(f"a request that cannot be recorded: {type(error).__name__}")
            await self._answer_error(request_id, INVALID_PARAMS, f"{method[:100]} cannot be recorded")
        else:
            await self._try_send({"jsonrpc": "2.0", "id": request_id, "result": result})

    async def _answer_error(self, request_id: JsonValue, code: int, message: str) -> None:
        await self._try_send({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}})

    async def _try_send(self, message: JsonObject) -> None:
        try:
            await self._send(message)
        except OutsideAgentFailed as error:
            # Its end is reported by who reads.
            self.problem(error.message)

    async def _send(self, message: JsonObject) -> None:
        try:
            await self.process.send(dumps(message).encode("utf-8", "backslashreplace"))
        except ToolServerUnavailable as error:
            raise OutsideAgentFailed(error.message) from error


def _whole(value: JsonValue) -> JsonValue:
    """The value with half characters, which escapes can spell and UTF-8 cannot, replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {str(_whole(name)): _whole(inner) for name, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value
