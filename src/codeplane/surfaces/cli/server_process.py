"""Starting and stopping a repository's server process; standard library only, to keep the shim fast."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from codeplane.kernel.errors import ERRORS, CodePlaneError, ServerRunning, ServerUnreachable
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts, find_server

START_TIMEOUT_SEC = 60.0
POLL_SEC = 0.03
_STOP_TIMEOUT_SEC = 20.0


def start_server(
    workspace: Workspace, *, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> tuple[ServerFacts, bool]:
    """Return the workspace's server, starting it in the background if needed, and whether it was started."""
    running = find_server(workspace)
    if running is not None:
        return running, False
    # -P: the child runs in the repository, whose modules must not stand in for ours. The path of the repository is not
    # among the arguments, which every account can read.
    command = [sys.executable, "-P", "-m", "codeplane", "up", "--background", "--json", "--repo", "."]
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
        facts = _wait(workspace, child, stdout, stderr)
        is_started = facts.pid == child.pid
        if not is_started:
            # Another one was faster; ours, which may still be loading, would serve as soon as that one ends.
            child.kill()
            child.wait()
        return facts, is_started


def _wait(workspace: Workspace, child: "subprocess.Popen[bytes]", stdout: IO[bytes], stderr: IO[bytes]) -> ServerFacts:
    deadline = time.monotonic() + START_TIMEOUT_SEC
    while time.monotonic() < deadline:
        facts = find_server(workspace)
        if facts is not None:
            return facts
        # A child that ends well has met another one that was faster, which will answer in a moment.
        if child.poll():
            raise _failure(_text(stdout), _text(stderr))
        time.sleep(POLL_SEC)
    raise ServerUnreachable(f"the server did not answer within {START_TIMEOUT_SEC:.0f} s", hint="cpl doctor --logs")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace").strip()


def _failure(stdout: str, stderr: str) -> CodePlaneError:
    """Return the error that stopped the child."""
    try:
        error = json.loads(stdout.splitlines()[-1])["error"]
        kind = next(kind for kind in ERRORS if kind.name == error["error"])
        return kind(error["message"], hint=error["hint"], details=error["details"])
    except (ValueError, LookupError, TypeError, StopIteration):
        return ServerUnreachable(f"the server did not start:\n{stderr[-2000:]}", hint="cpl doctor")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        # One that has ended stays in the table until its parent asks, and some parents never do.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True


def stop_server(facts: ServerFacts) -> None:
    """Stop a server and wait until it has ended."""
    try:
        os.kill(facts.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError as error:
        raise ServerRunning(f"pid {facts.pid} belongs to another user", hint="end it as that user") from error
    deadline = time.monotonic() + _STOP_TIMEOUT_SEC
    while time.monotonic() < deadline:
        if not _is_alive(facts.pid):
            return
        time.sleep(0.02)
    raise ServerRunning(f"pid {facts.pid} is still there after {_STOP_TIMEOUT_SEC:.0f} s", hint=f"kill -9 {facts.pid}")
