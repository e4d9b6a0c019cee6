"""`cpl clients`: MCP clients whose person may answer there, as far as the owner trusts them with that."""

import sys
from typing import Annotated

import typer

from codeplane.adapters.coding_clients.clients import CLIENTS
from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, failing_clearly, result_of, workspace_of
from codeplane.surfaces.cli.owner import owner_client

clients = typer.Typer(help="MCP clients that pass a person's answers on.", invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="The client, as in claude-code; see `cpl init --help`.")]


@clients.callback()
@failing_clearly
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the clients whose answers count when no command is named."""
    if context.invoked_subcommand is None:
        ask("client.list", {}, repo, as_json=as_json)


@clients.command()
@failing_clearly
def allow(
    name: Name,
    header: Annotated[
        bool, typer.Option("--header", help="Print the header with the secret, for a client that speaks HTTP.")
    ] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let the person at a client answer there: about what leaves the machine, and changes in mode `always`.

    Never about shell commands, what destroys work or history, more rights, or outward calls after untrusted content.
    The secret is kept in your own configuration folder; whoever can read it there can answer for you.
    """
    workspace = workspace_of(repo)
    secret = ClientSecret.of(workspace, name)
    with owner_client(workspace) as client:
        before = secret.read()
        hashed = secret.make(workspace)
        envelope = client.call("client.allow", {"name": name, "secret_hash": hashed}, text=not as_json)
        if "error" in envelope and not before:
            secret.remove()
    result_of(envelope, as_json=as_json)
    if header:
        print(f"{HEADER}: {secret.read()}")
        return
    show(envelope, as_json=as_json)
    if any(one.id == name for one in CLIENTS):
        print(f"\nnext: cpl init --client {name}, and restart it; undo: cpl clients revoke {name}", file=sys.stderr)
    else:
        print(f"\nnext: have it run cpl mcp --client {name}; undo: cpl clients revoke {name}", file=sys.stderr)


@clients.command()
@failing_clearly
def revoke(name: Name, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Ask the person at a client no more, at once, and delete its secret."""
    workspace = workspace_of(repo)
    with owner_client(workspace) as client:
        envelope = client.call("client.revoke", {"name": name}, text=not as_json)
    ClientSecret.of(workspace, name).remove()
    result_of(envelope, as_json=as_json)
    show(envelope, as_json=as_json)
