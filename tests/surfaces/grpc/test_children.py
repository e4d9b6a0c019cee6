"""Programs that the server starts while gRPC is busy: none of them dies before it has begun."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.harness import make_repo
from tests.interaction.requirements import requirement
from tests.surfaces.grpc.spawning_server import PROGRAMS

pytestmark = requirement("RPC-05")


def test_programs_are_started_while_grpc_is_busy(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.surfaces.grpc.spawning_server", "--repo", str(make_repo(tmp_path / "repo"))]
    given = {name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"}
    done = subprocess.run(program, capture_output=True, env=given, timeout=120, check=False)
    # gRPC's own code between fork and exec would end some of them by a signal, without a word.
    assert json.loads(done.stdout or b"null") == {"0": PROGRAMS}, done.stderr[-2000:]
