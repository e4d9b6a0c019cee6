"""Calls without a server: CodePlane in this process, for as long as the command takes."""

import asyncio
import json
import os
from collections.abc import Iterator

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace


class EmbeddedClient:
    """The owner, calling a CodePlane of its own; it has the repository to itself meanwhile."""

    def __init__(self, workspace: Workspace, overrides: list[str]) -> None:
        self._workspace = workspace
        self._overrides = overrides

    def call(self, operation: str, arguments: JsonObject, *, text: bool = False) -> JsonObject:
        """The envelope of one call, on request with its text."""
        return asyncio.run(self._call(operation, arguments, text))

    def stream(self, operation: str, arguments: JsonObject) -> Iterator[JsonObject]:
        """Refused: nothing happens in a CodePlane that only this command uses."""
        raise InvalidArgument(f"{operation} needs a running server", hint="start it: cpl up --detach")

    async def _call(self, operation: str, arguments: JsonObject, text: bool) -> JsonObject:
        from codeplane.app import configuration, prepare, running

        prepare(self._workspace)
        loaded = configuration(self._workspace, self._overrides, os.environ).without_terminal()
        async with running(self._workspace, loaded=loaded) as plane:
            outcome = await plane.conveyor.call(operation, arguments, Caller(surface="embedded", client="cpl"))
            envelope: JsonObject = json.loads(outcome.to_json(with_text=text))
            return envelope
