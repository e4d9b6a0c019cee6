"""A CodePlane with operations that go on until a file appears, started and told about like `cpl up --json`.

`python -m tests.surfaces.http.slow_server --repo DIR [--set KEY=VALUE]…`
"""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import uvloop

from codeplane.kernel.call import Call
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.operation import Budget, Request, Result, Risk, operation
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config, prepare_home
from codeplane.wiring.serve import Serving


class FileRequest(Request):
    """Which file is waited for; `began` is written first."""

    path: str
    began: str


class Ended(Result):
    """What was seen."""

    said: str


class SlowOperations:
    """Calls that tests keep under way."""

    @operation("slow.read", risk=Risk.READ)
    async def read(self, call: Call, request: FileRequest) -> Ended:
        """Answer when the file is there."""
        return await self._wait(request)

    @operation("slow.write", risk=Risk.WRITE, budget=Budget.MUTATION)
    async def write(self, call: Call, request: FileRequest) -> Ended:
        """Answer when the file is there, as a mutation."""
        return await self._wait(request)

    @operation("slow.stream", risk=Risk.READ, timeout_sec=0)
    async def stream(self, call: Call, request: FileRequest) -> AsyncIterator[Ended]:
        """One item, and another when the file is there."""
        yield Ended(said="began")
        yield await self._wait(request)

    async def _wait(self, request: FileRequest) -> Ended:
        Path(request.began).touch()
        while not Path(request.path).exists():
            await asyncio.sleep(0.01)
        return Ended(said="the file is there")


def main() -> None:
    """Serve until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    given = parser.parse_args()
    workspace = Workspace(root=given.repo.resolve())
    prepare_home(workspace)
    loaded = load_workspace_config(workspace, given.overrides, os.environ)

    def announce(facts: JsonObject) -> None:
        print(dumps(facts), flush=True)

    async def serve() -> None:
        await Serving(workspace, loaded=loaded, operations=[SlowOperations()], announce=announce).run()

    uvloop.run(serve())


if __name__ == "__main__":
    main()
