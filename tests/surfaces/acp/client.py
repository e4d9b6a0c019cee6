"""An ACP client for tests: every message as it came, and answers to what it is asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.harness import PATIENCE_SEC, Server

HELLO = {"protocolVersion": 1, "clientInfo": {"name": "tester", "version": "1"}}
Handler = Callable[[str, dict[str, Any]], Awaitable[Any]]


class AcpError(Exception):
    """An error that the agent answered with."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data") or {}
        self.name = self.data.get("error")


class AcpClient:
    """One connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        # Everything that came, in its order.
        self.heard: list[dict[str, Any]] = []
        self.closed: tuple[int, str] | None = None
        self.on_request: Handler | None = None
        self._changed = asyncio.Condition()
        self._next_id = 0
        self._reading = asyncio.ensure_future(self._read())
        self._answering: set[asyncio.Future[None]] = set()

    @property
    def notices(self) -> list[dict[str, Any]]:
        """The session updates, each with the cursor that came with it."""
        return [message["params"] for message in self.heard if message.get("method") == "session/update"]

    @property
    def updates(self) -> list[dict[str, Any]]:
        """What the session updates say."""
        return [_flat(notice["update"]) for notice in self.notices]

    def kinds(self) -> list[str]:
        """The kinds of updates, in order."""
        return [str(update["sessionUpdate"]) for update in self.updates]

    def text(self, kind: str = "agent_message_chunk") -> str:
        """What was said."""
        return "".join(update["content"]["text"] for update in self.updates if update["sessionUpdate"] == kind)

    async def send(self, message: dict[str, Any] | str) -> None:
        await self.socket.send(message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message}))

    async def start(self, method: str, params: dict[str, Any], request_id: object = None) -> Any:
        """Send a request; its id."""
        if request_id is None:
            request_id, self._next_id = self._next_id, self._next_id + 1
        await self.send({"id": request_id, "method": method, "params": params})
        return request_id

    async def answer(self, request_id: object) -> Any:
        """The result of a request, or AcpError."""

        def found() -> dict[str, Any] | None:
            for message in self.heard:
                if "method" not in message and message.get("id") == request_id:
                    return message
            return None

        message = await self.until(found)
        if "error" in message:
            raise AcpError(message["error"])
        return message["result"]

    async def call(self, method: str, params: dict[str, Any] | None = None) -> Any:
        return await self.answer(await self.start(method, params or {}))

    async def notify(self, method: str, params: dict[str, Any]) -> None:
        await self.send({"method": method, "params": params})

    async def open(self, repo: Path, **params: Any) -> str:
        """The id of a new session."""
        await self.call("initialize", HELLO)
        return str((await self.call("session/new", {"cwd": str(repo), "mcpServers": [], **params}))["sessionId"])

    async def prompt(self, session: str, text: str, **meta: Any) -> Any:
        return await self.call("session/prompt", prompt_params(session, text, **meta))

    async def until(self, condition: Callable[[], Any]) -> Any:
        """What the condition gives once it holds; looked at whenever a message came."""
        async with asyncio.timeout(PATIENCE_SEC), self._changed:
            while not (found := condition()):
                assert self.closed is None, f"the connection ended: {self.closed}"
                await self._changed.wait()
            return found

    async def until_said(self, count: int) -> None:
        """Wait for so many answers from the index."""
        await self.until(lambda: self.text().count("No model is configured") == count)

    async def until_closed(self) -> tuple[int, str]:
        await asyncio.wait_for(asyncio.shield(self._reading), PATIENCE_SEC)
        assert self.closed is not None
        return self.closed

    async def drop(self) -> None:
        """Go away without a word."""
        self.socket.transport.abort()
        await self.until_closed()

    async def leave(self) -> None:
        await self.socket.close()
        await self.until_closed()

    async def _read(self) -> None:
        try:
            async for text in self.socket:
                message = json.loads(text)
                if "method" in message and "id" in message and self.on_request is not None:
                    task = asyncio.ensure_future(self._respond(message))
                    self._answering.add(task)
                    task.add_done_callback(self._answering.discard)
                async with self._changed:
                    self.heard.append(message)
                    self._changed.notify_all()
        except ConnectionClosed:
            pass
        async with self._changed:
            self.closed = (self.socket.close_code or 0, self.socket.close_reason or "")
            self._changed.notify_all()

    async def _respond(self, message: dict[str, Any]) -> None:
        assert self.on_request is not None
        result = await self.on_request(message["method"], message["params"])
        await self.send({"id": message["id"], "result": result})


def _flat(update: dict[str, Any]) -> dict[str, Any]:
    """An update of the dialect 0.2.1 without the layer around its body; any other as it is."""
    if "session_update" not in update:
        return update
    kind = update["session_update"]
    return {"session_update": kind, **update["content" if kind.endswith("_chunk") else kind]}


def prompt_params(session: str, text: str, **meta: Any) -> dict[str, Any]:
    """The parameters of a prompt."""
    own = {"_meta": {"codeplane": meta}} if meta else {}
    return {"sessionId": session, "prompt": [{"type": "text", "text": text}], **own}


@asynccontextmanager
async def acp_client(
    server: Server, *, query: str = "", token: str | None = "", headers: dict[str, str] | None = None
) -> AsyncIterator[AcpClient]:
    """A client of a server, with the owner's token unless another or none is given."""
    shown = server.token if token == "" else token
    given = {**({"Authorization": f"Bearer {shown}"} if shown else {}), **(headers or {})}
    async with connect(
        f"ws://{server.host}:{server.port}/acp{query}", additional_headers=given, max_size=None
    ) as socket:
        client = AcpClient(socket)
        try:
            yield client
        finally:
            await client.leave()
