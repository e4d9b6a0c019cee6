"""Asking a CodePlane in this process, through its door."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config
from tests.kernel.plane import running_here

T = TypeVar("T")
Ask = Callable[..., Awaitable[JsonObject]]


def with_plane(root: Path, body: Callable[[Ask], Awaitable[T]], *settings: str) -> T:
    """Run a test's body with a function that calls operations and gives their envelopes, text included."""

    async def run() -> T:
        workspace = Workspace(root=root.resolve())
        loaded = load_workspace_config(workspace, settings, {}).without_terminal()
        async with running_here(workspace, loaded=loaded) as plane:

            async def ask(operation: str, **arguments: object) -> JsonObject:
                caller = Caller(surface="mcp", client="test", connection_id="test")
                outcome = await plane.conveyor.call(operation, arguments, caller)  # type: ignore[arg-type]  # plain JSON
                envelope: JsonObject = json.loads(outcome.to_json(with_text=True))
                return envelope

            return await body(ask)

    return asyncio.run(run())


def result(envelope: JsonObject) -> JsonObject:
    """The result of an envelope that is no error."""
    found = envelope.get("result")
    assert isinstance(found, dict), envelope
    return found
