"""`cpl proposals`: what agents would like to change about CodePlane here."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.embedded_client import EmbeddedClient
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.owner_client import OwnerClient, open_owner_client
from codeplane.surfaces.cli.terminal import escape_controls

proposals = typer.Typer(help="Skills, policies and other changes that agents propose.", invoke_without_command=True)

ProposalArgument = Annotated[
    str, typer.Argument(metavar="PROPOSAL", help="The proposal, as cpl proposals lists it, or a part of its id.")
]


@proposals.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List what waits for you when no command is named."""
    if context.invoked_subcommand is None:
        list_(everything=False, repo=repo, as_json=as_json)


@proposals.command("list")
@report_errors
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Those that were decided, too.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show proposals, the newest first."""
    ask("proposal.list", {"state": "" if everything else "OPEN", "limit": 100}, repo, as_json=as_json)


@proposals.command("show")
@report_errors
def show_(proposal_id: ProposalArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show a proposal and what it would change."""
    ask("proposal.show", {"proposal_id": proposal_id}, repo, as_json=as_json)


@proposals.command()
@report_errors
def apply(
    proposal_id: ProposalArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; the change is shown all the same.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a proposal changes and, if you agree, do it."""
    workspace = resolve_workspace(repo)
    with open_owner_client(workspace) as client:
        answer = client.call("proposal.show", {"proposal_id": proposal_id}, text=True)
        proposal = answer.get("result")
        if not isinstance(proposal, dict):
            show(answer, as_json=as_json)
            return
        # Standard error may be a terminal also where standard output is none.
        print(escape_controls(str(answer.get("text"))), file=sys.stderr)
        if proposal["state"] != "OPEN":
            raise InvalidArgument(f"{proposal['proposal_id']} is {proposal['state']} already")
        if not yes and not (sys.stdin.isatty() and typer.confirm("Apply it?", default=False, err=True)):
            way = (
                "" if sys.stdin.isatty() else f" Without a terminal to ask at: cpl proposals apply --yes {proposal_id}"
            )
            print(f"Nothing was changed.{way}", file=sys.stderr)
            raise typer.Exit(1)
        named: JsonObject = {"proposal_id": proposal["proposal_id"]}
        if not proposal["target"]:
            answer = client.call("proposal.apply", named, text=True)
        else:
            _write(client, workspace.home / str(proposal["target"]), proposal)
            answer = client.call("proposal.close", {**named, "outcome": "applied"}, text=True)
    show(answer, as_json=as_json)


@proposals.command()
@report_errors
def reject(
    proposal_id: ProposalArgument,
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reject a proposal."""
    ask("proposal.close", {"proposal_id": proposal_id, "outcome": "rejected", "reason": reason}, repo, as_json=as_json)


def _write(client: OwnerClient | EmbeddedClient, path: Path, proposal: JsonObject) -> None:
    """Write a proposed file below `.codeplane/`, once it is known to be usable."""
    content = str(proposal["content"])
    if proposal["kind"] == "policy":
        checked = client.call("policy.check", {"text": content, "name": path.name}).get("result")
        if not isinstance(checked, dict) or not checked["usable"]:
            problems = checked["problems"] if isinstance(checked, dict) else "it could not be checked"
            raise InvalidArgument(f"this policy cannot be used: {problems}", hint="reject it: cpl proposals reject")
    from codeplane.adapters.file_replacement import replace_file

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path, content if content.endswith("\n") else f"{content}\n")
    if proposal["kind"] == "skill":
        name = path.parent.name
        found = client.call("skill.show", {"name": name}).get("result")
        if isinstance(found, dict):
            client.call("skill.trust", {"name": name, "hash": found["hash"]})
