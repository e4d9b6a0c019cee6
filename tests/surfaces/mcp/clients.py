"""MCP clients for the tests: the SDK's own over each transport and era, and one that sends any bytes at all."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Self, cast

import anyio.to_thread
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from tests.harness import Server

LEGACY: Final = "legacy"
MODERN: Final = "2026-07-28"
HANDSHAKE: Final = "2025-11-25"
ERAS: Final = (LEGACY, MODERN)
SECONDS: Final = 30.0


@dataclass(frozen=True, kw_only=True)
class Transport:
    """One of the ways in which a client can reach a server."""

    transport: str
    era: str

    def __str__(self) -> str:
        return f"{self.transport}-{self.era}"


WAYS: Final = tuple(Transport(transport=transport, era=era) for transport in ("http", "stdio") for era in ERAS)


@asynccontextmanager
async def connect_client(
    server: Server,
    *,
    way: Transport = WAYS[0],
    toolset: str | None = None,
    structured: bool = False,
    headers: Mapping[str, str] | None = None,
    name: str = "tester",
    person: ElicitationFnT | None = None,
    registered: str | None = None,
    on_message: MessageHandlerFnT | None = None,
) -> AsyncIterator[Client]:
    """The SDK's client, connected; with a person to show questions to when there is one.

    `registered` is the name under which it is registered, and shows the secret that the owner may have given it.
    """
    who = types.Implementation(name=name, version="1")
    if way.transport == "stdio":
        options = [*(["--client", registered] if registered else [])]
        options += [*(["--toolset", toolset] if toolset else []), *(["--structured"] if structured else [])]
        program, *arguments = server.stdio
        parameters = StdioServerParameters(command=program, args=[*arguments, *options], env=dict(os.environ))
        async with Client(
            stdio_client(parameters), mode=way.era, client_info=who, cache=None, elicitation_callback=person
        ) as client:
            yield client
        return
    query = "&".join([*([f"toolset={toolset}"] if toolset else []), *(["structured=true"] if structured else [])])
    url = f"{server.mcp_url}?{query}" if query else server.mcp_url
    secret = ClientSecret.of(server.workspace, registered).read() if registered else ""
    shown = {**(headers or {}), **({HEADER: secret} if secret else {})}
    # Proxies of the environment are for elsewhere; the limit on an event is the client's own taste.
    async with httpx2.AsyncClient(trust_env=False, timeout=SECONDS, headers=shown) as http:
        transport = streamable_http_client(url, http_client=http, max_sse_event_size=None)
        async with Client(
            transport,
            mode=way.era,
            client_info=who,
            cache=None,
            elicitation_callback=person,
            message_handler=on_message,
        ) as client:
            yield client


async def text_of(client: Client, tool: str, **arguments: object) -> str:
    """What the model reads; the call has to succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return text_in(result)


async def failure_of(client: Client, tool: str, **arguments: object) -> str:
    """What the model reads of a call that fails."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return text_in(result)


def text_in(result: types.CallToolResult) -> str:
    """The one text of a result."""
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def meta(result: types.CallToolResult) -> JsonObject:
    """The envelope's meta."""
    assert result.meta is not None
    return cast(JsonObject, result.meta["codeplane/meta"])


async def session_of(client: Client) -> str:
    """The CodePlane session that a client's calls run in."""
    return str(meta(await client.call_tool("session_info", {}))["session_id"])


def request(method: str, params: JsonObject | None = None, *, number: int | str = 1, era: str = LEGACY) -> JsonObject:
    """A JSON-RPC request as a client of the era writes it."""
    body: JsonObject = {"jsonrpc": "2.0", "id": number, "method": method}
    if era == MODERN:
        envelope: JsonObject = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        given = dict(params or {})
        more = cast(JsonObject, given.pop("_meta", {}))
        return {**body, "params": {**given, "_meta": {**envelope, **more}}}
    return body if params is None else {**body, "params": params}


def call(tool: str, arguments: JsonObject | None = None, *, number: int | str = 1, era: str = LEGACY) -> JsonObject:
    """A request for a tool, with progress."""
    params: JsonObject = {"name": tool, "arguments": arguments or {}, "_meta": {"progressToken": f"token-{number}"}}
    return request("tools/call", params, number=number, era=era)


INITIALIZE: Final = request(
    "initialize",
    {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
    number=0,
)
INITIALIZED: Final[JsonObject] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class RawStream:
    """The other end of `/mcp/stdio`, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._rest = b""

    @classmethod
    async def open(cls, server: Server, *, era: str | None = LEGACY, headers: Sequence[str] = ()) -> Self:
        """Connect, and shake hands where the era wants it."""
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        head = [
            "POST /mcp/stdio HTTP/1.1",
            f"Host: 127.0.0.1:{server.port}",
            "Content-Type: application/x-ndjson",
            "Transfer-Encoding: chunked",
            *headers,
        ]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        async with asyncio.timeout(SECONDS):
            answered = await reader.readuntil(b"\r\n\r\n")
        assert answered.startswith(b"HTTP/1.1 200"), answered
        stream = cls(reader, writer)
        if era == LEGACY:
            await stream.send(INITIALIZE)
            assert "result" in await stream.message()
            await stream.send(INITIALIZED)
        return stream

    async def send(self, *messages: JsonObject) -> None:
        """Write messages, a line each, at once."""
        await self.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def write(self, data: bytes) -> None:
        """Write bytes."""
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        await self._writer.drain()

    async def close_input(self) -> None:
        """Say that nothing more will be written."""
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    def vanish(self) -> None:
        """Be gone without a word, as a killed process is."""
        self._writer.transport.abort()

    async def message(self) -> JsonObject:
        """The next message."""
        found = await self._line()
        assert found is not None, "the server ended the stream"
        return cast(JsonObject, json.loads(found))

    async def answer(self, number: int | str | None) -> JsonObject:
        """The answer to a request, dropping what comes before."""
        while True:
            message = await self.message()
            if "method" not in message and message.get("id") == number:
                return message

    async def rest(self) -> list[JsonObject]:
        """Everything until the server ends the stream."""
        found = []
        while (line := await self._line()) is not None:
            found.append(cast(JsonObject, json.loads(line)))
        return found

    async def _line(self) -> bytes | None:
        async with asyncio.timeout(SECONDS):
            while b"\n" not in self._rest:
                size = int(await self._reader.readline() or b"0", 16)
                if size == 0:
                    return None
                self._rest += await self._reader.readexactly(size)
                await self._reader.readline()
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def wait_for_event(server: Server, kind: str, **wanted: object) -> JsonObject:
    """Wait until an event of that type, whose payload has what is wanted, is in the log."""
    quiet = 0
    for item in server.client().stream("ledger.watch", {"types": [kind], "heartbeat_sec": 0.5, "after": 0}):
        event = item.get("event")
        if isinstance(event, dict):
            payload = cast(JsonObject, event["payload"])
            if all(payload.get(name) == value for name, value in wanted.items()):
                return cast(JsonObject, event)
        else:
            quiet += 1
            assert quiet < 2 * SECONDS, f"no {kind} with {wanted} happened"
    raise AssertionError("the watch ended")


async def wait_for_payload(server: Server, kind: str, *, session: str) -> JsonObject:
    """Wait until the log has an event of that type about a session, and return its payload."""

    def wait() -> JsonObject:
        watched: JsonObject = {"stream": f"session/{session}", "heartbeat_sec": SECONDS}
        for item in server.client().stream("ledger.watch", watched):
            event = item.get("event")
            assert isinstance(event, dict), f"no {kind} happened to {session}"
            if event["type"] == kind:
                return cast(JsonObject, event["payload"])
        raise AssertionError("the watch ended")

    return await anyio.to_thread.run_sync(wait)


async def wait_for_close(server: Server, session: str) -> JsonObject:
    """How a session ended, once it has."""
    return await wait_for_payload(server, "session.closed", session=session)
