"""A client that says whatever a test wants, over the WebSocket itself."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from websockets.asyncio.client import ClientConnection, connect

from codeplane.kernel.json import JsonObject, JsonValue
from tests.harness import Server


class RawClient:
    """Sends messages and reads answers; what comes between is kept."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._next = 0
        self.told: list[JsonObject] = []

    async def send(self, method: str, params: JsonValue) -> int:
        """Send a request and return its id."""
        self._next += 1
        await self._socket.send(json.dumps({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}))
        return self._next

    async def notify(self, method: str, params: JsonValue) -> None:
        """Send a notification."""
        await self._socket.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    async def answer(self, request_id: int) -> JsonObject:
        """Wait for the answer to a request."""
        while True:
            message = await self.read()
            if message.get("id") == request_id and "method" not in message:
                return message
            self.told.append(message)

    async def ask(self, method: str, params: JsonValue) -> JsonValue:
        """Send a request and return its result."""
        answer = await self.answer(await self.send(method, params))
        assert "error" not in answer, answer
        return answer["result"]

    async def reply(self, request_id: JsonValue, result: JsonValue) -> None:
        """Answer a request of the server."""
        await self._socket.send(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}))

    async def until_told(self, method: str) -> JsonObject:
        """Wait until the server says something by itself."""
        for message in self.told:
            if message.get("method") == method:
                self.told.remove(message)
                return message
        while (message := await self.read()).get("method") != method:
            self.told.append(message)
        return message

    async def read(self) -> JsonObject:
        """Return the next message."""
        return cast(JsonObject, json.loads(await self._socket.recv()))


@asynccontextmanager
async def talking(
    server: Server, *, capabilities: JsonObject | None = None, is_owner: bool = True
) -> AsyncIterator[RawClient]:
    """A client that has initialized."""
    sent = {"Authorization": f"Bearer {server.token}"} if is_owner else {}
    address = f"{server.url.replace('http', 'ws', 1)}/lsp"
    async with connect(address, additional_headers=sent, max_size=None) as socket:
        client = RawClient(socket)
        params: JsonObject = {"capabilities": capabilities or {}, "clientInfo": {"name": "raw"}}
        await client.ask("initialize", params)
        await client.notify("initialized", {})
        yield client
