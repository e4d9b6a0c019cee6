"""A CodePlane with the witness operations beside the real ones: `python -m tests.trust.refusals.served --repo DIR`."""

import argparse
import os
import sys
from pathlib import Path

import uvloop

from codeplane.kernel import refusal_count
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.wiring.app import load_workspace_config, prepare_home
from codeplane.wiring.serve import Serving
from tests.trust.refusals.witness import WitnessOperations

WINDOW_SEC = 1


def main() -> int:
    """Serve until told to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    given = parser.parse_args()
    # Nobody here has a minute to wait until a flood of refusals is recorded as its number.
    refusal_count.WINDOW_SEC = WINDOW_SEC
    workspace = Workspace(root=given.repo.resolve())
    prepare_home(workspace)
    loaded = load_workspace_config(workspace, given.overrides, os.environ)

    def announce(facts: JsonObject) -> None:
        print(dumps({name: facts[name] for name in ("url", "pid", "port", "repo", "grpc_port")}), flush=True)

    async def serve() -> None:
        await Serving(workspace, loaded=loaded, operations=[WitnessOperations()], announce=announce).run()

    uvloop.run(serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
