"""`cpl devices`: list, pair and revoke devices."""

from typing import Annotated

import typer

from codeplane.kernel.errors import ServerUnreachable
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.embedded_client import EmbeddedClient
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.owner_client import open_owner_client

devices = typer.Typer(help="Devices that are paired with this server.", invoke_without_command=True)


@devices.callback()
@report_errors
def default(
    context: typer.Context,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the devices when no command is named."""
    if context.invoked_subcommand is None:
        list_(every=False, repo=repo, as_json=as_json)


@devices.command("list")
@report_errors
def list_(
    every: Annotated[bool, typer.Option("--all", "-a", help="Also those that were revoked or not renewed.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the paired devices."""
    ask("device.list", {"include_ended": every}, repo, as_json=as_json)


@devices.command()
@report_errors
def pair(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Create a code to type into a new device; it works once, for a few minutes."""
    with open_owner_client(resolve_workspace(repo)) as client:
        if isinstance(client, EmbeddedClient):
            # The code would be gone with this process, and there is nothing the device could talk to.
            raise ServerUnreachable("a device pairs with a running server", hint="start it: cpl up --detach")
        envelope = client.call("pairing.create", {}, text=not as_json)
    show(envelope, as_json=as_json)


@devices.command()
@report_errors
def revoke(
    device_id: Annotated[str, typer.Argument(help="The device, as cpl devices lists it, or its beginning or end.")],
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a device: its token is refused from now on, and its streams end."""
    ask("device.revoke", {"device_id": device_id, "reason": reason}, repo, as_json=as_json)
