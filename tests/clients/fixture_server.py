"""A CodePlane with operations of the tests' own beside the real ones, started and told about like `cpl up --json`.

`python -m tests.clients.fixture_server --repo DIR [--set KEY=VALUE]…`
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import uvloop

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config, prepare_home
from codeplane.wiring.serve import Serving
from tests.surfaces.mcp.operations import SurfaceOperations

from .fixture_operations import ConformanceOperations, ConformanceResources


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
        await Serving(
            workspace,
            loaded=loaded,
            operations=[ConformanceOperations(), SurfaceOperations()],
            resources=[ConformanceResources()],
            announce=announce,
        ).run()

    uvloop.run(serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
