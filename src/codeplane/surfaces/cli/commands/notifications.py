"""`cpl notifications`: what you should know, and how you are reached."""

import sys
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.owner_client import open_owner_client

notifications = typer.Typer(help="What you should know, and how you are reached.", invoke_without_command=True)


@notifications.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the notifications when no command is named."""
    if context.invoked_subcommand is None:
        list_(unread=False, limit=20, repo=repo, as_json=as_json)


@notifications.command("list")
@report_errors
def list_(
    unread: Annotated[bool, typer.Option("--unread", help="Only those that were not read yet.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="At most this many.")] = 20,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show notifications, the newest first."""
    ask("notification.list", {"unread": unread, "limit": limit}, repo, as_json=as_json)


@notifications.command()
@report_errors
def read(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Mark all of them as read."""
    ask("notification.read", {"all": True}, repo, as_json=as_json)


@notifications.command()
@report_errors
def channels(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show how you are reached when you do not look."""
    ask("notification.channels", {}, repo, as_json=as_json)


@notifications.command()
@report_errors
def allow(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let notifications go to the address of your settings; asked once for each address."""
    with open_owner_client(resolve_workspace(repo)) as client:
        answer = client.call("notification.channels", {}, text=True)
        result = answer.get("result")
        waiting = [channel for channel in _channels(result) if channel["address"] and not channel["allowed"]]
        for channel in waiting:
            question = f"Send what every notification says to {channel['address']}?"
            if yes or (sys.stdin.isatty() and typer.confirm(question, default=False, err=True)):
                answer = client.call("notification.allow", {"address": channel["address"]}, text=True)
    show(answer, as_json=as_json)


@notifications.command()
@report_errors
def test(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Send one by every channel, and say what became of it."""
    ask("notification.test", {}, repo, as_json=as_json)


def _channels(result: object) -> list[JsonObject]:
    channels = result.get("channels") if isinstance(result, dict) else None
    return [channel for channel in channels if isinstance(channel, dict)] if isinstance(channels, list) else []
