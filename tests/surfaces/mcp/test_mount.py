"""MCP before its first client: nothing of it is loaded, and what goes wrong then is told to whoever asks."""

import asyncio
import subprocess
import sys

import pytest
from starlette.types import Message, Scope

from codeplane.kernel.errors import ShuttingDown
from codeplane.surfaces.mcp.mount import McpMount
from codeplane.surfaces.mcp.server import McpSurface
from tests.interaction.requirements import requirement

_SCOPE: Scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}


async def _receive() -> Message:
    return {"type": "http.disconnect"}


async def _send(message: Message) -> None:
    raise AssertionError(message)


@requirement("MCP-03a")
def test_a_server_that_starts_does_not_wait_for_the_library_of_mcp() -> None:
    program = "import sys, codeplane.wiring.serve; print(sorted({'mcp', 'mcp_types'} & sys.modules.keys()))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@requirement("MCP-03a")
async def test_a_surface_that_nobody_wanted_is_never_made() -> None:
    def make() -> McpSurface:
        raise AssertionError("nobody asked")

    async with McpMount(make, stopping=asyncio.Event()).run():
        await asyncio.sleep(0)


@requirement("MCP-03a")
async def test_a_surface_that_cannot_be_made_fails_for_everyone_who_asks() -> None:
    tries = []

    def make() -> McpSurface:
        tries.append(1)
        raise ImportError("no such library")

    mount = McpMount(make, stopping=asyncio.Event())
    async with mount.run():
        for _ in range(2):
            with pytest.raises(ImportError, match="no such library"):
                await mount.http(_SCOPE, _receive, _send)
            with pytest.raises(ImportError, match="no such library"):
                await mount.stdio(_SCOPE, _receive, _send)
    assert tries == [1]


async def test_who_waits_for_the_library_is_told_that_the_server_ends() -> None:
    def make() -> McpSurface:
        raise AssertionError("nobody waits any more")

    stopping = asyncio.Event()
    mount = McpMount(make, stopping=stopping)
    async with mount.run():
        waiting = [asyncio.ensure_future(serve(_SCOPE, _receive, _send)) for serve in (mount.http, mount.stdio)]
        # Every client asks before the library can be there: its import ends in a turn of the loop of its own.
        await asyncio.sleep(0)
        stopping.set()
        for one in waiting:
            with pytest.raises(ShuttingDown):
                await one
    with pytest.raises(ShuttingDown):
        await mount.http(_SCOPE, _receive, _send)
