"""What a server changes about its tools reaches the clients of ours, from one program through ours to another."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp import Client

from tests.harness import Server, cpl, start
from tests.interaction.requirements import requirement
from tests.surfaces.mcp.clients import LEGACY, MODERN, Transport, connect_client
from tests.work.tools.tool_plane import SCRIPT

pytestmark = requirement("MCX-03")

PATIENCE_SEC = 90


@pytest.fixture
def server(tmp_path: Path, repo: Path) -> Iterator[Server]:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    running = start(repo, environ=environ, overrides=["mcp.toolset=all"])
    words = ("tools", "add", "moody", "--readable", str(SCRIPT.parent), "--", sys.executable, str(SCRIPT), "renames")
    for command in (words, ("tools", "test", "moody")):
        done = cpl(*command, cwd=repo, environ=environ)
        assert done.returncode == 0, done.stderr
    yield running
    running.stop()


async def outside_tools(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools if tool.name.startswith("ext_moody")}


WAYS = (
    Transport(transport="http", era=LEGACY),
    Transport(transport="http", era=MODERN),
    Transport(transport="stdio", era=MODERN),
)


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_renamed_tool_is_heard_of_and_listed_by_its_new_name(server: Server, way: Transport) -> None:
    heard = anyio.Event()

    async def listen(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            heard.set()

    async with connect_client(server, way=way, toolset="all", on_message=listen) as client:
        before = await outside_tools(client)
        assert len(before) == 1
        name = next(iter(before)).replace("ext_moody_", "ext.moody.")
        with anyio.fail_after(PATIENCE_SEC):
            if way.era == LEGACY:
                server.call(name, text="x")
                await heard.wait()
            else:
                async with client.listen(tools_list_changed=True) as changes:
                    server.call(name, text="x")
                    async for _ in changes:
                        break
        after = await outside_tools(client)
        assert len(after) == 1 and after != before
