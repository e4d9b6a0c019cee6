"""Starting a repository's server in the background; standard library only, for the shim's sake."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import IO

from codeplane.kernel.errors import ERRORS, CodePlaneError, ServerUnreachable
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts, find_server

START_TIMEOUT_SEC = 60.0
POLL_SEC = 0.03


def start_server(
    workspace: Workspace, *, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> tuple[ServerFacts, bool]:
    """The workspace's server, started in the background if it does not run yet, and whether that was done here."""
    running = find_server(workspace)
    if running is not None:
        return running, False
    # -P: the child runs in the repository, whose modules must not stand in for ours.
    command = [sys.executable, "-P", "-m", "codeplane", "up", "--background", "--json", "--repo", str(workspace.root)]
    command += [part for item in overrides for part in ("--set", item)]
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            cwd=workspace.root,
            env=environ,
        )
        found = _wait(workspace, child, stdout, stderr)
        return found, found.pid == child.pid


def _wait(workspace: Workspace, child: "subprocess.Popen[bytes]", stdout: IO[bytes], stderr: IO[bytes]) -> ServerFacts:
    deadline = time.monotonic() + START_TIMEOUT_SEC
    while time.monotonic() < deadline:
        found = find_server(workspace)
        if found is not None:
            return found
        # A child that ends well has met another one that was faster, which will answer in a moment.
        if child.poll():
            raise _failure(_text(stdout), _text(stderr))
        time.sleep(POLL_SEC)
    raise ServerUnreachable(f"the server did not answer within {START_TIMEOUT_SEC:.0f} s", hint="cpl doctor --logs")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


def _failure(stdout: str, stderr: str) -> CodePlaneError:
    """What stopped the child, as if it had happened here."""
    try:
        error = json.loads(stdout.splitlines()[-1])["error"]
        kind = next(kind for kind in ERRORS if kind.name == error["error"])
        return kind(error["message"], hint=error["hint"], details=error["details"])
    except (ValueError, LookupError, TypeError, StopIteration):
        return ServerUnreachable(f"the server did not start:\n{stderr[-2000:]}", hint="cpl doctor")
