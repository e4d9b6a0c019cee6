"""Calls without a server: CodePlane in this process, for as long as the command takes."""

import gc
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING

from codeplane.kernel.errors import ServerUnreachable
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace

if TYPE_CHECKING:
    import asyncio

    from codeplane.wiring.app import Plane


class EmbeddedClient:
    """The owner, calling a CodePlane of its own; it has the repository to itself meanwhile."""

    def __init__(self, plane: "Plane", runner: "asyncio.Runner") -> None:
        self._plane = plane
        self._runner = runner

    @classmethod
    @contextmanager
    def open(cls, workspace: Workspace, overrides: Sequence[str]) -> Iterator["EmbeddedClient"]:
        """The time during which it can be called."""
        import asyncio

        from codeplane.adapters.home import prepare
        from codeplane.adapters.yaml_config import configuration

        # As in `cpl up`: while everything comes up there is hardly anything to collect.
        gc.disable()
        prepare(workspace)
        loaded = configuration(workspace, overrides, os.environ).without_terminal()

        from codeplane.wiring.app import running

        stack = AsyncExitStack()
        with asyncio.Runner() as runner:
            plane = runner.run(stack.enter_async_context(running(workspace, loaded=loaded)))
            gc.freeze()
            gc.enable()
            try:
                yield cls(plane, runner)
            finally:
                runner.run(stack.aclose())

    def call(self, operation: str, arguments: JsonObject, *, text: bool = False) -> JsonObject:
        """The envelope of one call, on request with its text."""
        envelope: JsonObject = json.loads(self._runner.run(self._call(operation, arguments, text)))
        return envelope

    def stream(self, operation: str, arguments: JsonObject) -> Iterator[JsonObject]:
        """Refused: nothing happens in a CodePlane that only this command uses."""
        raise ServerUnreachable(f"{operation} needs a running server", hint="start it: cpl up --detach")

    def index_state(self) -> JsonObject:
        """How far the index is, in the words of `status`; it is begun if it was not."""
        return self._runner.run(self._index_state())

    def wait(self, seconds: float) -> None:
        """Let it work."""
        import asyncio

        self._runner.run(asyncio.sleep(seconds))

    async def _index_state(self) -> JsonObject:
        self._plane.index.start()
        return self._plane.index.told()

    async def _call(self, operation: str, arguments: JsonObject, text: bool) -> str:
        from codeplane.kernel.actor import Caller

        outcome = await self._plane.conveyor.call(operation, arguments, Caller(surface="embedded", client="cpl"))
        return outcome.to_json(with_text=text)
