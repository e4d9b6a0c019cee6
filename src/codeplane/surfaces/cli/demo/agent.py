"""The demo's agent: an MCP client over HTTP."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from codeplane import __version__
from codeplane.kernel.errors import ERRORS, CodePlaneError, Internal, ServerUnreachable
from codeplane.kernel.json import JsonObject

NAME = "demo-agent"
_ERROR = re.compile(r"([A-Z_]+): (.*)")
_HINT = re.compile(r"^hint: (.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The answer of a call, as a model reads it."""

    text: str
    failed: bool
    session_id: str = ""

    @property
    def error(self) -> str:
        """The error's name, or an empty text."""
        match = _ERROR.match(self.text) if self.failed else None
        return match[1] if match else ""

    def as_error(self, message: str) -> CodePlaneError:
        """Return an error with this message, of the answer's own class if it is one."""
        kind = next((kind for kind in ERRORS if kind.name == self.error), Internal)
        hint = _HINT.search(self.text) if self.failed else None
        return kind(message, hint=hint[1] if hint else "look at what is there: cpl demo --keep; and: cpl doctor")


class Agent:
    """Calls tools."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def call(self, tool: str, arguments: JsonObject) -> ToolAnswer:
        """Call a tool and wait for its answer."""
        try:
            result = await self._client.call_tool(tool, arguments)
        except MCPError as error:
            return ToolAnswer(text=str(error), failed=True)
        text = "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))
        meta = (result.meta or {}).get("codeplane/meta")
        session = meta.get("session_id") if isinstance(meta, dict) else None
        return ToolAnswer(text=text, failed=bool(result.is_error), session_id=str(session or ""))


@asynccontextmanager
async def connect_agent(url: str) -> AsyncIterator[Agent]:
    """Connect an agent to the server at a URL."""
    who = types.Implementation(name=NAME, version=__version__)
    try:
        # Proxies of the environment are for elsewhere; a question may wait as long as it likes.
        async with httpx2.AsyncClient(trust_env=False, timeout=None) as http:
            transport = streamable_http_client(f"{url}/mcp?toolset=all", http_client=http)
            async with Client(transport, mode="legacy", client_info=who, cache=None) as client:
                yield Agent(client)
    except BaseExceptionGroup as group:
        # Whatever ends the connection's tasks comes as a group.
        raise _cause(_leaves(group)) from group
    except (httpx2.HTTPError, MCPError) as error:
        raise ServerUnreachable(str(error)) from error


def _cause(leaves: list[BaseException]) -> BaseException:
    """Return the exception that ended the connection, not the connection's own."""
    ours = [leaf for leaf in leaves if not isinstance(leaf, (httpx2.HTTPError, MCPError))]
    return ours[0] if ours else ServerUnreachable(str(leaves[0]))


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for part in error.exceptions for leaf in _leaves(part)]
    return [error]
