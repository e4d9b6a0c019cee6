"""A CodePlane with operations of the tests' own beside the real ones, started and told about like `cpl up --json`.

`python -m tests.clients.fixture_server --repo DIR [--set KEY=VALUE]…`
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import uvloop
from starlette.types import ASGIApp

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.mcp.mount import McpMount
from codeplane.wiring.app import Plane, load_workspace_config, prepare_home
from codeplane.wiring.serve import Serving
from tests.surfaces.mcp.operations import DeclaringOperations, SurfaceOperations

from .fixture_operations import ConformanceOperations, ConformanceResources


class _Serving(Serving):
    """A server whose operations can declare others."""

    def __init__(self, workspace: Workspace, *, declaring: DeclaringOperations, **named: Any) -> None:
        super().__init__(workspace, **named)
        self._declaring = declaring

    def _application(self, plane: Plane, mount: McpMount) -> ASGIApp:
        self._declaring.catalogue = plane.conveyor.catalogue
        return super()._application(plane, mount)


def main() -> int:
    """Serve until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    given = parser.parse_args()
    workspace = Workspace(root=given.repo.resolve())
    try:
        prepare_home(workspace)
        loaded = load_workspace_config(workspace, given.overrides, os.environ)
    except CodePlaneError as error:
        print(f"error: {error.message}\n\nhint: {error.hint}", file=sys.stderr)
        return 1

    def announce(facts: JsonObject) -> None:
        answer = {name: facts[name] for name in ("url", "pid", "port", "repo", "grpc_port")}
        print(dumps({**answer, "note": "fixture"}), flush=True)

    async def serve() -> None:
        declaring = DeclaringOperations()
        await _Serving(
            workspace,
            declaring=declaring,
            loaded=loaded,
            operations=[ConformanceOperations(), SurfaceOperations(), declaring],
            resources=[ConformanceResources()],
            announce=announce,
        ).run()

    uvloop.run(serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
