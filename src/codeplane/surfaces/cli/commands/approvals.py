"""`cpl approvals`: list and decide the actions that wait for a person."""

import sys
import time
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.commands.call import show as print_answer
from codeplane.surfaces.cli.embedded_client import EmbeddedClient
from codeplane.surfaces.cli.output import EXIT_FAILED, JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.owner_client import OwnerClient, open_owner_client

approvals = typer.Typer(help="What agents want to do and a person decides.", no_args_is_help=False)

Action = Annotated[str, typer.Argument(help="An action's id, or a beginning or end that only it has.")]
_PATIENCE_SEC = 5.0
_LOOK_SEC = 0.1
_PAGE = 100
_HOW = "look with: cpl approvals show ID; decide with: cpl approvals approve ID, or reject ID; its last letters will do"


@approvals.callback(invoke_without_command=True)
@report_errors
def pending(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Also what was decided.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many; with --json up to 100.")] = 20,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the actions that wait for a decision, newest first."""
    if context.invoked_subcommand is None:
        chosen: JsonObject = {} if everything else {"status": "PENDING"}
        with open_owner_client(resolve_workspace(repo)) as client:
            if as_json:
                print_answer(client.call("approval.list", {**chosen, "limit": min(limit, _PAGE)}), as_json=True)
            elif _print_pages(client, chosen, limit):
                print(f"more: cpl approvals {'--all ' if everything else ''}-n {limit * 2}")
            if not as_json:
                _print_untrusted(client)


@approvals.command()
@report_errors
def show(action: Action, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show one action with its preview."""
    ask("approval.show", {"action_id": action}, repo, as_json=as_json)


@approvals.command()
@report_errors
def approve(
    action: Action,
    trust: Annotated[bool, typer.Option("--trust", help="Also the next calls of this kind, for some days.")] = False,
    task: Annotated[bool, typer.Option("--task", help="Also all calls of this kind in the same task.")] = False,
    preview: Annotated[str | None, typer.Option("--preview", help="The preview_hash you looked at.")] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Approve an action once, and print its outcome.

    Exits with 1 when it did not run, ended with an error, or what it ran failed: a command's exit code, red tests. With
    --json it does not wait for the run.
    """
    asked: JsonObject = {"action_id": action, "trust": trust, "for_task": task, "preview_hash": preview}
    with open_owner_client(resolve_workspace(repo)) as client:
        envelope = client.call("approval.approve", asked, text=not as_json)
        print_answer(envelope, as_json=as_json)
        result = envelope["result"]
        if not as_json and isinstance(result, dict):
            outcome, is_well = _await_outcome(client, str(result["action_id"]))
            print(outcome)
            if not is_well:
                raise typer.Exit(EXIT_FAILED)


@approvals.command()
@report_errors
def reject(
    action: Action,
    reason: Annotated[str, typer.Option("--reason", "-m", help="The reason that the agent reads.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reject an action."""
    ask("approval.reject", {"action_id": action, "reason": reason}, repo, as_json=as_json)


@approvals.command()
@report_errors
def trusted(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the remembered answers and when they expire."""
    ask("approval.trusted", {}, repo, as_json=as_json)


@approvals.command()
@report_errors
def forget(
    answer: Annotated[
        str, typer.Argument(help="An answer's id, as `cpl approvals trusted` shows it, or its beginning or end.")
    ],
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget a remembered answer, so that the next such call asks again."""
    ask("approval.forget", {"answer_id": answer}, repo, as_json=as_json)


@approvals.command()
@report_errors
def untrusted(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the agents that have read untrusted content, since when and from where."""
    ask("untrusted.list", {}, repo, as_json=as_json)


@approvals.command()
@report_errors
def clear(
    agent: Annotated[
        str | None,
        typer.Argument(
            help="An agent with a token by its name, or agents-without-token for all others; without one, all."
        ),
    ] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Clear the untrusted mark of agents, so that remembered answers and settings count again."""
    ask("untrusted.clear", {"agent": agent}, repo, as_json=as_json)


def _print_untrusted(client: OwnerClient | EmbeddedClient) -> None:
    """Print the agents that have read untrusted content, if any."""
    envelope = client.call("untrusted.list", {}, text=True)
    result = envelope.get("result")
    if isinstance(result, dict) and result.get("items"):
        print(f"untrusted content was read by:\n{envelope.get('text')}")


def _print_pages(client: OwnerClient | EmbeddedClient, chosen: JsonObject, limit: int) -> bool:
    """Print up to the limit, page by page; return whether there are more."""
    cursor: JsonValue = None
    while limit > 0:
        asked: JsonObject = {**chosen, "limit": min(limit, _PAGE), **({"cursor": cursor} if cursor else {})}
        envelope = client.call("approval.list", asked, text=True)
        result = envelope.get("result")
        pagination = result.get("pagination") if isinstance(result, dict) else None
        cursor = pagination.get("next_cursor") if isinstance(pagination, dict) else None
        # A page ends with its cursor, which is for programs.
        print_answer({**envelope, "text": str(envelope.get("text", "")).partition("\nmore: cursor=")[0]}, as_json=False)
        limit -= _PAGE
        if cursor is None:
            if chosen and isinstance(result, dict) and result.get("items"):
                print(_HOW, file=sys.stderr)
            return False
    return True


def _await_outcome(client: OwnerClient | EmbeddedClient, action_id: str) -> tuple[str, bool]:
    """Wait a few seconds for the run; return how it ended or where to look, and whether it succeeded."""
    until = time.monotonic() + _PATIENCE_SEC
    while True:
        action = client.call("approval.show", {"action_id": action_id}).get("result")
        if isinstance(action, dict) and action.get("status") == "REJECTED":
            return f"not run: {action.get('reason')}", False
        if isinstance(action, dict) and action.get("outcome"):
            return _describe_outcome(action)
        if time.monotonic() >= until:
            return f"not over yet; see: cpl approvals show {action_id}", True
        time.sleep(_LOOK_SEC)


def _describe_outcome(action: JsonObject) -> tuple[str, bool]:
    """Describe how a run ended, with the end of its answer if it failed."""
    if action["outcome"] != "ok":
        return f"run: it ended with {action['outcome']}", False
    if not action.get("failure"):
        return "run: ok", True
    return "\n".join([f"run: {action['failure']}", *([str(action["answer"])] if action.get("answer") else [])]), False
