"""Finding a repository's workspace and its server; standard library only, for the shim's sake."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO

from codeplane.kernel.errors import ServerUnreachable, WorkspaceNotFound
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace

START_TIMEOUT_SEC = 60.0
_POLL_SEC = 0.03
_PROBE_TIMEOUT_SEC = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """A server that answers for a workspace."""

    pid: int
    host: str
    port: int
    url: str
    version: str
    detached: bool
    started_at: str


def find_workspace(start: Path, *, explicit: bool) -> Workspace:
    """The workspace that contains a folder; a folder that was named explicitly can be one without git."""
    start = start.expanduser().resolve()
    if not start.is_dir():
        raise WorkspaceNotFound(f"{start} is not a folder")
    for folder in (start, *start.parents):
        if (folder / ".codeplane" / "repo_id").is_file() or (folder / ".git").exists():
            return Workspace(root=folder)
    if explicit:
        return Workspace(root=start)
    raise WorkspaceNotFound(
        f"{start} is not inside a git repository", hint="to use this folder as it is: cpl up --repo ."
    )


def facts_of(wire: JsonObject) -> ServerFacts:
    """The facts as a server writes them down."""
    return ServerFacts(
        pid=int(str(wire["pid"])),
        host=str(wire["host"]),
        port=int(str(wire["port"])),
        url=str(wire["url"]),
        version=str(wire["version"]),
        detached=bool(wire["detached"]),
        started_at=str(wire["started_at"]),
    )


def find_server(workspace: Workspace) -> ServerFacts | None:
    """The server that answers for the workspace right now, or None."""
    try:
        facts = facts_of(json.loads(workspace.server.read_text()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return facts if _answers(facts, workspace) else None


def _answers(facts: ServerFacts, workspace: Workspace) -> bool:
    connection = HTTPConnection(facts.host, facts.port, timeout=_PROBE_TIMEOUT_SEC)
    try:
        connection.request("GET", "/health")
        response = connection.getresponse()
        response.read()
        # Somebody else may have the port by now: what answers has to be the server of this repository.
        repo = (response.headers.get("x-codeplane-repo") or "").encode("latin-1")
        return response.status == 200 and repo == workspace.header
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def start_server(
    workspace: Workspace, *, overrides: Sequence[str] = (), environ: Mapping[str, str] | None = None
) -> ServerFacts:
    """The workspace's server, started in the background if it does not run yet."""
    running = find_server(workspace)
    if running is not None:
        return running
    command = [sys.executable, "-m", "codeplane", "up", "--background", "--repo", str(workspace.root)]
    command += [part for item in overrides for part in ("--set", item)]
    with tempfile.TemporaryFile() as stderr:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
            cwd=workspace.root,
            env=dict(environ) if environ is not None else None,
        )
        return _wait(workspace, child, stderr)


def _wait(workspace: Workspace, child: subprocess.Popen[bytes], stderr: IO[bytes]) -> ServerFacts:
    deadline = time.monotonic() + START_TIMEOUT_SEC
    lost_race = False
    while time.monotonic() < deadline:
        found = find_server(workspace)
        if found is not None:
            return found
        if child.poll() is not None and not lost_race:
            stderr.seek(0)
            said = stderr.read().decode(errors="replace")
            if "SERVER_RUNNING" not in said:
                raise ServerUnreachable(f"the server did not start:\n{said.strip()[-2000:]}", hint="cpl doctor")
            # Another one was faster: it holds the lock and will answer in a moment.
            lost_race = True
        time.sleep(_POLL_SEC)
    raise ServerUnreachable(f"the server did not answer within {START_TIMEOUT_SEC:.0f} s", hint="cpl doctor --logs")
