"""`cpl devices`: what is paired with this server, pairing another one, ending one."""

from typing import Annotated

import typer

from codeplane.kernel.errors import ServerUnreachable
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.embedded import EmbeddedClient
from codeplane.surfaces.cli.output import JsonOption, RepoOption, failing_clearly, workspace_of
from codeplane.surfaces.cli.owner import owner_client

devices = typer.Typer(help="Devices that are paired with this server.", invoke_without_command=True)


@devices.callback()
@failing_clearly
def default(
    context: typer.Context,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the devices when no command is named."""
    if context.invoked_subcommand is None:
        list_(every=False, repo=repo, as_json=as_json)


@devices.command("list")
@failing_clearly
def list_(
    every: Annotated[bool, typer.Option("--all", "-a", help="Also those that were revoked or not renewed.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the paired devices."""
    ask("device.list", {"include_ended": every}, repo, as_json=as_json)


@devices.command()
@failing_clearly
def pair(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Make a code that is typed into a new device; it is good once, for a few minutes."""
    with owner_client(workspace_of(repo)) as client:
        if isinstance(client, EmbeddedClient):
            # The code would be gone with this process, and there is nothing the device could talk to.
            raise ServerUnreachable("a device pairs with a running server", hint="start it: cpl up --detach")
        envelope = client.call("pairing.create", {}, text=not as_json)
    show(envelope, as_json=as_json)


@devices.command()
@failing_clearly
def revoke(
    device_id: Annotated[str, typer.Argument(help="The device, as cpl devices lists it, or its beginning or end.")],
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a device: its token is refused from now on, and what it watches ends."""
    ask("device.revoke", {"device_id": device_id, "reason": reason}, repo, as_json=as_json)
