"""`cpl agents`: list, issue and revoke the tokens of agents, and rotate their signing keys."""

from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace, result_or_exit
from codeplane.surfaces.cli.owner_client import open_owner_client

agents = typer.Typer(
    help="Agents with tokens of their own, and outside agents that run threads.", invoke_without_command=True
)


@agents.callback()
@report_errors
def default(
    context: typer.Context,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the tokens when no command is named."""
    if context.invoked_subcommand is None:
        list_(every=False, sessions=False, repo=repo, as_json=as_json)


@agents.command("list")
@report_errors
def list_(
    every: Annotated[bool, typer.Option("--all", "-a", help="Also those that were revoked.")] = False,
    sessions: Annotated[bool, typer.Option("--sessions", help="Also those of sessions.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the agents that hold tokens."""
    ask("agent.list", {"include_ended": every, "sessions": sessions}, repo, as_json=as_json)
    if not as_json:
        typer.echo("outside agents that run threads, as Claude Code: cpl agents acp", err=True)


@agents.command()
@report_errors
def token(
    agent: Annotated[str, typer.Argument(help="The agent's name, as in reviewer.")],
    capabilities: Annotated[
        list[str] | None, typer.Option("--can", "-c", help="A capability, as in write_files; can be repeated.")
    ] = None,
    paths: Annotated[list[str] | None, typer.Option("--path", "-p", help="Only here; can be repeated.")] = None,
    tools: Annotated[list[str] | None, typer.Option("--tool", "-t", help="Only these; can be repeated.")] = None,
    mode: Annotated[str, typer.Option("--mode", help="What asks a person: automatic, trust or always.")] = "trust",
    max_agents: Annotated[int | None, typer.Option("--max-agents", min=0, help="Agents it may start.")] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="How long it is good.")] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Issue a token and print it on stdout; it is shown only once."""
    asked: JsonObject = {"agent": agent, "approval_mode": mode}
    lists = (("capabilities", capabilities), ("allowed_paths", paths), ("allowed_tools", tools))
    asked |= {name: [*values] for name, values in lists if values}
    asked |= {name: value for name, value in (("max_agents", max_agents), ("minutes", minutes)) if value is not None}
    with open_owner_client(resolve_workspace(repo)) as client:
        envelope = client.call("agent.token", asked)
    result = result_or_exit(envelope, as_json=as_json)
    if as_json:
        show(envelope, as_json=True)
        return
    print(result["token"])
    summary = f"{result['agent_id']}, token {result['token_id']}, until {str(result['expires_at'])[:19]}Z"
    typer.echo(f"{summary}; end it with: cpl agents revoke {result['token_id']}", err=True)
    meta = envelope.get("meta")
    warnings = meta.get("warnings") if isinstance(meta, dict) else None
    for warning in warnings if isinstance(warnings, list) else ():
        typer.echo(f"warning: {warning}", err=True)


@agents.command()
@report_errors
def revoke(
    agent: Annotated[str, typer.Argument(help="An agent's name, for all it holds, or a token's id.")],
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke everything an agent holds (tokens, sessions, grants, open questions), or one token and its sessions."""
    ask("agent.revoke", {"agent": agent, "reason": reason}, repo, as_json=as_json)


@agents.command("rotate-keys")
@report_errors
def rotate_keys(
    now: Annotated[bool, typer.Option("--now", help="End all tokens of before at once.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Sign new tokens with a new key; older tokens stay valid until they expire."""
    ask("agent.rotate_keys", {"now": now}, repo, as_json=as_json)
