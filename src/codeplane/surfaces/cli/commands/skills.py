"""`cpl skills`: instructions for assistants that a person chooses."""

from typing import Annotated

import typer

from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.owner_client import open_owner_client

skills = typer.Typer(help="Skills of this repository and of yours.", invoke_without_command=True)

NameArgument = Annotated[str, typer.Argument(metavar="SKILL", help="The skill, as cpl skills lists it.")]


@skills.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the skills when no command is named."""
    if context.invoked_subcommand is None:
        ask("skill.list", {}, repo, as_json=as_json)


@skills.command("list")
@report_errors
def list_(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show the skills, and which of them may be used."""
    ask("skill.list", {}, repo, as_json=as_json)


@skills.command("show")
@report_errors
def show_(name: NameArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show what a skill says, its files and its hash."""
    ask("skill.show", {"name": name}, repo, as_json=as_json)


@skills.command()
@report_errors
def trust(
    name: NameArgument,
    hash_: Annotated[
        str, typer.Option("--hash", help="Only if it still has this hash, as cpl skills show has it.")
    ] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a skill of the repository be used as it is now; it is shown, since it is trusted with all that it says."""
    with open_owner_client(resolve_workspace(repo)) as client:
        seen = client.call("skill.show", {"name": name}, text=True)
        skill = seen.get("result")
        if isinstance(skill, dict):
            if not as_json:
                show(seen, as_json=False)
            seen = client.call("skill.trust", {"name": name, "hash": hash_ or skill["hash"]}, text=True)
    show(seen, as_json=as_json)


@skills.command()
@report_errors
def distrust(name: NameArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Let a skill of the repository not be used any more."""
    ask("skill.distrust", {"name": name}, repo, as_json=as_json)
