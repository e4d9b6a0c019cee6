"""CodePlane's own tools for an outside agent, as an MCP server over messages: each call passes the door."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.work.agents.agent_run import AgentRun
from codeplane.work.turns.tool_step import Toolbox, ToolOutcome
from codeplane.work.turns.transcript import ToolRequest

_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_METHOD_NOT_FOUND, _INVALID_PARAMS = -32601, -32602
_TEXT = "CodePlane's tools work on the same work tree as you do; what they change is part of what your person reviews."

# Makes a call under a key and waits for a person where one has to decide.
CallTool = Callable[[ToolRequest, str], Awaitable[ToolOutcome]]


@dataclass(slots=True, kw_only=True)
class AgentToolServer:
    """Answers the MCP messages of one run."""

    run: AgentRun
    toolbox: Toolbox
    call: CallTool
    version: str
    _calls: int = 0

    async def answer(self, message: JsonObject) -> JsonObject | None:
        """The answer to a message; None to a notification."""
        request_id, method, params = message.get("id"), message.get("method"), message.get("params")
        if request_id is None or not isinstance(method, str):
            return None
        values: JsonObject = params if isinstance(params, dict) else {}
        match method:
            case "initialize":
                return _result(request_id, self._initialize(values))
            case "ping":
                return _result(request_id, {})
            case "tools/list":
                return _result(request_id, {"tools": self._tools()})
            case "tools/call":
                return await self._call_tool(request_id, values)
        return _error(request_id, _METHOD_NOT_FOUND, f"{method[:100]} is not offered")

    def _initialize(self, params: JsonObject) -> JsonObject:
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in _VERSIONS else _VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "codeplane", "version": self.version},
            "instructions": _TEXT,
        }

    def _tools(self) -> list[JsonValue]:
        return [
            {"name": part.name, "description": part.description, "inputSchema": part.parameters}
            for part in self.toolbox.described
        ]

    async def _call_tool(self, request_id: JsonValue, params: JsonObject) -> JsonObject:
        name, arguments = params.get("name"), params.get("arguments")
        if not isinstance(name, str) or self.toolbox.get(name) is None:
            return _error(request_id, _INVALID_PARAMS, f"there is no tool {str(name)[:100]!r}")
        self._calls += 1
        request = ToolRequest(
            tool_call_id=f"tool-{self._calls}",
            name=name,
            arguments=dumps(arguments if isinstance(arguments, dict) else {}),
        )
        outcome = await self.call(request, self.run.key(request.tool_call_id))
        is_error = outcome.status not in ("ok", "PROPOSED")
        return _result(request_id, {"content": [{"type": "text", "text": outcome.text}], "isError": is_error})


def _result(request_id: JsonValue, result: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _error(request_id: JsonValue, code: int, message: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
