"""A client of the newer protocol that declares the extensions it is told to, request by request."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.harness import PATIENCE_SEC, Server, until

from .clients import MODERN, request

TASKS = "io.modelcontextprotocol/tasks"
UI = "io.modelcontextprotocol/ui"
_NAMES = {"tools/call": "name", "resources/read": "uri"}


@dataclass(kw_only=True)
class TaskClient:
    """Posts requests to `/mcp` and gives their answers as they came."""

    server: Server
    name: str = "tasker"
    extensions: Sequence[str] = (TASKS,)
    asks: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    query: str = ""

    def post(self, method: str, params: dict[str, Any], *, routed_to: str | None = None) -> dict[str, Any]:
        """The whole answer to one request; `routed_to` is what the routing header names instead."""
        capabilities: dict[str, Any] = {"extensions": {name: {} for name in self.extensions}}
        if self.asks:
            capabilities["elicitation"] = {"form": {}}
        meta = {
            "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }
        body = request(method, {**params, "_meta": meta}, era=MODERN)
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MODERN,
            "mcp-method": method,
            **self.headers,
        }
        named = routed_to if routed_to is not None else params.get(_NAMES.get(method, "taskId"))
        if named is not None:
            headers["mcp-name"] = str(named)
        _, answer = self.server.request("POST", f"/mcp{self.query}", body=json.dumps(body).encode(), headers=headers)
        text = answer.decode()
        # An answer that takes a moment comes as an event stream.
        lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
        found: dict[str, Any] = json.loads(lines[-1] if lines else text)
        return found

    def result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request that succeeds."""
        answer = self.post(method, params)
        assert "result" in answer, answer
        found: dict[str, Any] = answer["result"]
        return found

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """The result of `tools/call`, which may be a task."""
        return self.result("tools/call", {"name": tool, "arguments": arguments})

    def error(self, method: str, task_id: str, **more: object) -> int:
        """The code of the error that a request for a task is answered with."""
        answer = self.post(method, {"taskId": task_id, **more})
        assert "error" in answer, answer
        return int(answer["error"]["code"])

    def get(self, task_id: str) -> dict[str, Any]:
        """The task as it is now."""
        return self.result("tasks/get", {"taskId": task_id})

    def wait_for(self, task_id: str, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The task once it is as wanted."""
        seen: list[dict[str, Any]] = []

        def look() -> bool:
            seen.append(self.get(task_id))
            return reached(seen[-1])

        until(look, sec=PATIENCE_SEC)
        return seen[-1]

    def ended(self, task_id: str) -> dict[str, Any]:
        """The task once it has ended."""
        return self.wait_for(task_id, lambda task: task["status"] in ("completed", "cancelled", "failed"))


def text_of(result: dict[str, Any]) -> str:
    """What a model reads of a tool's result."""
    return str(result["content"][0]["text"])
