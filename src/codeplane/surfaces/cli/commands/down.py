"""`cpl down`: stop a repository's server."""

import shlex
import sys
from pathlib import Path

from codeplane.kernel.errors import ServerRunning
from codeplane.surfaces.cli.diagnosis.server import holder
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.output import RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.server_process import stop_server


@report_errors
def down(repo: RepoOption = None) -> None:
    """Stop the server of a repository and wait until it has ended."""
    workspace = resolve_workspace(repo)
    start = (repo or Path()).expanduser().resolve()
    if repo is not None and start != workspace.root:
        # A folder that is not a repository must not stop the server of the one around it.
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
    stop_server(facts)
    print(f"ended (pid {facts.pid})" if start == workspace.root else f"ended (pid {facts.pid}): {workspace.root}")
