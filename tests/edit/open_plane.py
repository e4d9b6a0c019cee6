"""A CodePlane that stays up for many questions of a test module."""

import asyncio
import json
from pathlib import Path

from codeplane.kernel.actor import Caller
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config
from tests.kernel.plane import running_here


class OpenPlane:
    """One plane in a loop of its own; callers differ by the name of their connection."""

    def __init__(self, root: Path, *settings: str) -> None:
        self.root = root
        self._runner = asyncio.Runner()
        workspace = Workspace(root=root.resolve())
        self._running = running_here(
            workspace, loaded=load_workspace_config(workspace, settings, {}).without_terminal()
        )
        self._plane = self._runner.run(self._running.__aenter__())

    def ask(self, operation: str, *, connection: str = "test", **arguments: object) -> JsonObject:
        """Call an operation and give its envelope, text included."""
        caller = Caller(surface="mcp", client="test", connection_id=connection)
        call = self._plane.conveyor.call(operation, arguments, caller)  # type: ignore[arg-type]  # plain JSON
        found: JsonObject = json.loads(self._runner.run(call).to_json(with_text=True))
        return found

    def close(self) -> None:
        """End it."""
        self._runner.run(self._running.__aexit__(None, None, None))
        self._runner.close()
