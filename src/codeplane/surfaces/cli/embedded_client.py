"""Calls without a server: CodePlane runs in this process for one command."""

import gc
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING

from codeplane.kernel.errors import ServerUnreachable
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.terminal import for_terminal

if TYPE_CHECKING:
    import asyncio

    from codeplane.wiring.app import Plane


class EmbeddedClient:
    """The owner's client of a CodePlane in this process, which locks the repository meanwhile."""

    def __init__(self, plane: "Plane", runner: "asyncio.Runner") -> None:
        self._plane = plane
        self._runner = runner

    @classmethod
    @contextmanager
    def open(cls, workspace: Workspace, overrides: Sequence[str]) -> Iterator["EmbeddedClient"]:
        """Run CodePlane in this process within the context."""
        import asyncio

        from codeplane.adapters.home import prepare_home
        from codeplane.adapters.yaml_config import load_workspace_config

        # As in `cpl up`: while everything comes up there is hardly anything to collect.
        gc.disable()
        prepare_home(workspace)
        loaded = load_workspace_config(workspace, overrides, os.environ).without_terminal()

        from codeplane.wiring.app import run_plane

        stack = AsyncExitStack()
        with asyncio.Runner() as runner:
            plane = runner.run(stack.enter_async_context(run_plane(workspace, loaded=loaded)))
            gc.freeze()
            gc.enable()
            try:
                yield cls(plane, runner)
            finally:
                runner.run(stack.aclose())

    def call(self, operation: str, arguments: JsonObject, *, text: bool = False) -> JsonObject:
        """Return the envelope of one call, optionally with its text."""
        envelope: JsonObject = json.loads(self._runner.run(self._call(operation, arguments, text)))
        return for_terminal(envelope)

    def stream(self, operation: str, arguments: JsonObject) -> Iterator[JsonObject]:
        """Raise ServerUnreachable: a stream needs a running server."""
        raise ServerUnreachable(f"{operation} needs a running server", hint="start it: cpl up --detach")

    def index_state(self) -> JsonObject:
        """Return the index part of `status`; start the index if necessary."""
        return self._runner.run(self._index_state())

    def wait(self, seconds: float) -> None:
        """Let the event loop run."""
        import asyncio

        self._runner.run(asyncio.sleep(seconds))

    async def _index_state(self) -> JsonObject:
        self._plane.index.start()
        return self._plane.index.describe()

    async def _call(self, operation: str, arguments: JsonObject, text: bool) -> str:
        from codeplane.kernel.actor import Caller

        outcome = await self._plane.conveyor.call(operation, arguments, Caller(surface="embedded", client="cpl"))
        return outcome.to_json(with_text=text)
