"""A plane with servers of outside tools, started as a server starts them."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.model_provider import ModelProvider
from codeplane.wiring.app import Plane
from tests.kernel.plane import OWNER, plane
from tests.trust.approvals.agent_calls import result

SCRIPT = Path(__file__).with_name("scripted_server.py")
FAST = ("tools.backoff_sec=0.01", "tools.max_backoff_sec=0.05", "tools.start_sec=20")


def scripted(trick: str = "", **settings: JsonValue) -> JsonObject:
    """The settings of the tests' own server, in the sandbox unless told otherwise."""
    return {
        "command": sys.executable,
        "args": [str(SCRIPT), trick],
        "readable": [str(SCRIPT.parent)],
        **settings,
    }


@asynccontextmanager
async def tool_plane(
    root: Path,
    servers: Mapping[str, JsonObject],
    *settings: str,
    models: Mapping[str, ModelProvider] | None = None,
) -> AsyncIterator[Plane]:
    """A plane whose servers are started; they connect in the background."""
    given = f"mcp.servers={dumps(dict(servers))}"
    async with plane(root, given, *FAST, *settings, models=models) as opened:
        await opened.tools.start_servers()
        yield opened


async def ready(opened: Plane, server: str) -> JsonObject:
    """The server once its tools are known."""
    return result(await opened.conveyor.call("tools.test", {"server": server}, OWNER))


async def listed(opened: Plane, server: str) -> JsonObject:
    """What is known of a server now."""
    answer = result(await opened.conveyor.call("tools.list", {}, OWNER))["servers"]
    assert isinstance(answer, list)
    return next(found for found in answer if isinstance(found, dict) and found["name"] == server)
