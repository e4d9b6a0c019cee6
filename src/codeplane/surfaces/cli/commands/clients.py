"""`cpl clients`: the MCP clients in which a person may answer questions."""

import sys
from typing import Annotated

import typer

from codeplane.adapters.coding_clients.clients import CLIENTS
from codeplane.surfaces.cli.client_secret import HEADER, ClientSecret
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace, result_or_exit
from codeplane.surfaces.cli.owner_client import open_owner_client

clients = typer.Typer(help="MCP clients that pass a person's answers on.", invoke_without_command=True)

Name = Annotated[str, typer.Argument(help="The client, as in claude-code; see `cpl init --help`.")]


@clients.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the trusted clients when no command is named."""
    if context.invoked_subcommand is None:
        ask("client.list", {}, repo, as_json=as_json)


@clients.command()
@report_errors
def allow(
    name: Name,
    header: Annotated[
        bool, typer.Option("--header", help="Print the header with the secret, for a client that speaks HTTP.")
    ] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a person answer in a client: for outward calls, and for changes in mode `always`.

    Never about shell commands, what destroys work or history, more rights, or outward calls after untrusted content.
    The secret is kept in your own configuration folder; anybody who can read it there can answer for you.
    """
    workspace = resolve_workspace(repo)
    secret = ClientSecret.of(workspace, name)
    with open_owner_client(workspace) as client:
        before = secret.read()
        hashed = secret.make(workspace)
        envelope = client.call("client.allow", {"name": name, "secret_hash": hashed}, text=not as_json)
        if "error" in envelope and not before:
            secret.remove()
    result_or_exit(envelope, as_json=as_json)
    if header:
        print(f"{HEADER}: {secret.read()}")
        return
    show(envelope, as_json=as_json)
    if any(known.id == name for known in CLIENTS):
        print(f"\nnext: cpl init --client {name}, and restart it; undo: cpl clients revoke {name}", file=sys.stderr)
    else:
        print(f"\nnext: have it run cpl mcp --client {name}; undo: cpl clients revoke {name}", file=sys.stderr)


@clients.command()
@report_errors
def revoke(name: Name, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Stop asking the person in a client at once, and delete its secret."""
    workspace = resolve_workspace(repo)
    with open_owner_client(workspace) as client:
        envelope = client.call("client.revoke", {"name": name}, text=not as_json)
    ClientSecret.of(workspace, name).remove()
    result_or_exit(envelope, as_json=as_json)
    show(envelope, as_json=as_json)
