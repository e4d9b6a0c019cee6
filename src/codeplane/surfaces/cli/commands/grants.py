"""`cpl grants`: list, give and revoke the capabilities of agents."""

import re
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors

grants = typer.Typer(help="Capabilities that agents were given for a while.", invoke_without_command=True)

_UNITS = {"s": 1, "m": 60, "h": 3600}


@grants.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the grants when no command is named."""
    if context.invoked_subcommand is None:
        list_(agent=None, everything=False, limit=50, repo=repo, as_json=as_json)


@grants.command("list")
@report_errors
def list_(
    agent: Annotated[str | None, typer.Option("--agent", help="Only this agent's.")] = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Also refused, revoked and expired ones.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="At most this many.")] = 50,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show grants, newest first."""
    asked: JsonObject = {"everything": everything, "limit": limit, **({"agent": agent} if agent else {})}
    ask("capability.list", asked, repo, as_json=as_json)


@grants.command()
@report_errors
def grant(
    agent: Annotated[str, typer.Argument(help="The agent, as its token or cpl audit names it.")],
    capabilities: Annotated[list[str], typer.Argument(help="As in write_files or execute_tools.")],
    paths: Annotated[
        list[str] | None, typer.Option("--path", "-p", help="Changes only there; can be repeated.")
    ] = None,
    tools: Annotated[list[str] | None, typer.Option("--tool", "-t", help="Only this operation; git.* too.")] = None,
    agents: Annotated[int | None, typer.Option("--max-agents", help="With spawn_agents, how many at once.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="trust or always: ask more than the settings do.")] = None,
    duration: Annotated[str, typer.Option("--for", help="How long, as in 30m or 8h; at most 24h.")] = "1h",
    without_token: Annotated[
        bool, typer.Option("--without-token", help="For a client that only calls itself so.")
    ] = False,
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Grant an agent capabilities for a limited time."""
    asked: JsonObject = {
        "agent": agent,
        "capabilities": [*capabilities],
        "duration_sec": _seconds(duration),
        "without_token": without_token,
        "reason": reason,
    }
    asked |= {"allowed_paths": [*paths]} if paths else {}
    asked |= {"allowed_tools": [*tools]} if tools else {}
    asked |= {"max_agents": agents} if agents is not None else {}
    asked |= {"approval_mode": mode} if mode is not None else {}
    ask("capability.grant", asked, repo, as_json=as_json)


@grants.command()
@report_errors
def revoke(
    grant_id: Annotated[str, typer.Argument(help="The grant, as cpl grants lists it, or its beginning or end.")],
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a grant at once."""
    ask("capability.revoke", {"grant_id": grant_id, "reason": reason}, repo, as_json=as_json)


def _seconds(text: str) -> int:
    match = re.fullmatch(r"(\d{1,6})([smh])", text.strip())
    if match is None:
        raise InvalidArgument(f"{text!r} is not a duration", hint="write it as in 45s, 30m or 8h")
    return int(match[1]) * _UNITS[match[2]]
