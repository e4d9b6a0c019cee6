"""MCP servers that a client sends along with its sessions: offered, asked for, and taken back with the session."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from codeplane.kernel.client_servers import ClientServer, OfferedServer
from codeplane.kernel.errors import ApprovalPending, CodePlaneError
from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.acp.cursor import META
from codeplane.surfaces.acp.door import AcpDoor
from codeplane.surfaces.acp.requests import McpServer

_START = "tools.start"
# As long as a call may wait for a person; a later approval starts the server just the same.
_ASKED_SEC = 3600.0
# How long a prompt waits for servers that need nobody's answer.
_SETTLE_SEC = 10.0
_MAX_WORDS = 2000

Say = Callable[[str], Awaitable[None]]


class SessionServers:
    """The servers of the sessions of one connection."""

    def __init__(self, door: AcpDoor) -> None:
        self._door = door
        self._offered: dict[str, Sequence[OfferedServer]] = {}
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        # Those that start, and that nobody has to be asked about.
        self._starting: dict[str, set[str]] = {}
        self._settled = asyncio.Condition()

    async def offer(self, thread_id: str, servers: Sequence[McpServer]) -> None:
        """Offer the servers of a session in place of those that it had; nothing is started."""
        await self._cancel(thread_id)
        usable = [server for server in servers if server.type != "sse"]
        refused = [
            OfferedServer(name=server.name, problem="its transport, SSE, is not spoken here", hint="use http or stdio")
            for server in servers
            if server.type == "sse"
        ]
        offered = await self._door.offers.offer(
            thread_id, self._door.connection_id, [_client_server(server) for server in usable]
        )
        self._offered[thread_id] = [*offered, *refused]
        # From here on, since a prompt may come before they are asked for.
        self._starting[thread_id] = {str(found.arguments["definition"]) for found in offered if not found.problem}

    def answer(self, thread_id: str) -> JsonObject:
        """Return what an answer that opens a session says of its servers."""
        servers: list[JsonValue] = [
            {"name": found.name, "state": "refused", "reason": found.problem, "hint": found.hint}
            if found.problem
            else {"name": found.name, "state": "asked"}
            for found in self._offered.get(thread_id, ())
        ]
        unused: list[JsonValue] = [found.name for found in self._offered.get(thread_id, ()) if found.problem]
        if not servers:
            return {}
        return {"_meta": {META: {"mcpServers": servers, **({"unusedMcpServers": unused} if unused else {})}}}

    async def begin(self, thread_id: str, say: Say) -> None:
        """Ask for the servers of a session, and tell the client of each what becomes of it."""
        offered = self._offered.get(thread_id, ())
        if refused := [found for found in offered if found.problem]:
            words = "; ".join(f"{found.name}: {found.problem} ({found.hint})" for found in refused)
            await say(f"Not used: MCP servers of the client. {words}"[:_MAX_WORDS])
        wanted = [found for found in offered if not found.problem]
        self._tasks[thread_id] = [asyncio.create_task(self._start(thread_id, found, say)) for found in wanted]

    async def settle(self, thread_id: str) -> None:
        """Wait a while for servers that start without anybody's answer, so that a first prompt has their tools."""
        async with self._settled:
            try:
                async with asyncio.timeout(_SETTLE_SEC):
                    await self._settled.wait_for(lambda: not self._starting.get(thread_id))
            except TimeoutError:
                return

    async def end(self, thread_id: str) -> None:
        """End the servers of a session."""
        await self._cancel(thread_id)
        if self._offered.pop(thread_id, None):
            await self._door.offers.withdraw(thread_id, self._door.connection_id)

    async def end_all(self) -> None:
        """End the servers of all sessions."""
        for thread_id in [*self._offered]:
            await self.end(thread_id)

    async def _start(self, thread_id: str, offered: OfferedServer, say: Say) -> None:
        definition = str(offered.arguments["definition"])
        asked: JsonObject = {**offered.arguments, "idempotency_key": new_id("server")}
        try:
            try:
                started = await self._door.text(_START, asked, wait_sec=0.0)
            except ApprovalPending as pending:
                await self._note_settled(thread_id, definition)
                action_id = pending.details.get("action_id")
                await say(
                    f"The MCP server {offered.name} of the client waits for a person: cpl approvals approve {action_id}"
                )
                started = await self._door.text(_START, asked, wait_sec=_ASKED_SEC)
            await say(f"MCP server of the client: {started}"[:_MAX_WORDS])
        except CodePlaneError as error:
            await say(f"Not used: the MCP server {offered.name}. {error.message} ({error.hint})"[:_MAX_WORDS])
        finally:
            await self._note_settled(thread_id, definition)

    async def _note_settled(self, thread_id: str, definition: str) -> None:
        async with self._settled:
            self._starting.get(thread_id, set()).discard(definition)
            self._settled.notify_all()

    async def _cancel(self, thread_id: str) -> None:
        tasks = self._tasks.pop(thread_id, [])
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._starting.pop(thread_id, None)


def _client_server(server: McpServer) -> ClientServer:
    return ClientServer(
        name=server.name,
        command=server.command,
        args=server.args,
        env={variable.name: variable.value for variable in server.env},
        url=server.url,
        headers={header.name: header.value for header in server.headers},
    )
