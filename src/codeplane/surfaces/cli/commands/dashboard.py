"""`cpl dashboard`: open the dashboard in a browser, signed in."""

import webbrowser
from typing import Annotated

import typer

from codeplane.kernel.errors import ServerUnreachable
from codeplane.kernel.json import dumps
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace, result_or_exit
from codeplane.surfaces.cli.owner_client import OwnerClient


@report_errors
def dashboard(
    repo: RepoOption = None,
    as_json: JsonOption = False,
    print_only: Annotated[bool, typer.Option("--print", help="Print the link instead of opening it.")] = False,
) -> None:
    """Open the dashboard in a browser; the link signs one browser in, once, within two minutes."""
    workspace = resolve_workspace(repo)
    facts = find_server(workspace)
    if facts is None:
        raise ServerUnreachable(f"no server runs for {workspace.root}", hint="start it: cpl up")
    result = result_or_exit(OwnerClient(workspace, facts).call("dashboard.link", {}), as_json=as_json)
    # The address we reach it at: the server may not know by which name it is reached.
    link = f"{facts.url}{result['path']}"
    if as_json:
        print(dumps({"url": link, "expires_at": result["expires_at"]}))
    elif print_only or not webbrowser.open(link):
        print(link)
    else:
        print(f"opened {facts.url}/dashboard")
