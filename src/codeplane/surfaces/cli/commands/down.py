"""`cpl down`: end a repository's server."""

import os
import shlex
import signal
import sys
import time
from pathlib import Path

from codeplane.kernel.errors import ServerRunning
from codeplane.surfaces.cli.diagnosis.server import holder
from codeplane.surfaces.cli.discovery import ServerFacts, find_server
from codeplane.surfaces.cli.output import RepoOption, failing_clearly, workspace_of

_WAIT_SEC = 20.0


@failing_clearly
def down(repo: RepoOption = None) -> None:
    """End the server of a repository and wait until it is gone."""
    workspace = workspace_of(repo)
    start = (repo or Path()).expanduser().resolve()
    if repo is not None and start != workspace.root:
        # A folder that is no repository, or no more, must not end the server of the one around it.
        end = f"cpl down --repo {shlex.quote(str(workspace.root))}"
        print("not running")
        print(f"hint: {start} lies in {workspace.root}, whose server this ends: {end}", file=sys.stderr)
        return
    facts = find_server(workspace, even_ending=True)
    if facts is None:
        if (pid := holder(workspace)) is not None:
            raise ServerRunning(
                f"{f'pid {pid}' if pid else 'a process'} has this repository and does not answer",
                hint=f"wait a minute; when it hangs: kill -9 {pid or 'PID'}, which loses nothing that was acknowledged",
            )
        print("not running")
        return
    end_server(facts)
    print(f"ended (pid {facts.pid})" if start == workspace.root else f"ended (pid {facts.pid}): {workspace.root}")


def end_server(facts: ServerFacts) -> None:
    """End a server and wait until it is gone."""
    try:
        os.kill(facts.pid, signal.SIGTERM)
    except ProcessLookupError:
        pass
    except PermissionError as error:
        raise ServerRunning(f"pid {facts.pid} belongs to another user", hint="end it as that user") from error
    deadline = time.monotonic() + _WAIT_SEC
    while time.monotonic() < deadline:
        if not _alive(facts.pid):
            return
        time.sleep(0.02)
    raise ServerRunning(f"pid {facts.pid} is still there after {_WAIT_SEC:.0f} s", hint=f"kill -9 {facts.pid}")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        # One that has ended stays in the table until its parent asks, and some parents never do.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return True
