"""`cpl jobs`: goals that a model works on in the background."""

import sys
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    print_error,
    report_errors,
    resolve_workspace,
    result_or_exit,
)
from codeplane.surfaces.cli.owner_client import OwnerClient, open_owner_client
from codeplane.surfaces.cli.pager import PATCH_COLOURS, paint
from codeplane.surfaces.cli.server_process import start_server
from codeplane.surfaces.cli.terminal import escape_controls
from codeplane.surfaces.cli.turn_view import TurnView

jobs = typer.Typer(help="Goals that a model works on in the background.", invoke_without_command=True)

_ENDS = {"JOB_COMPLETED": 0, "JOB_FAILED": EXIT_FAILED, "JOB_CANCELLED": EXIT_FAILED}
# Beside the ends, what goes on only when a person does something.
_STOPS = {**_ENDS, "JOB_WAITING_APPROVAL": EXIT_FAILED, "JOB_PAUSED_BUDGET": EXIT_FAILED}
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="The job, as cpl jobs lists it, or a part of its id.")]


@jobs.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the jobs when no command is named."""
    if context.invoked_subcommand is None:
        list_(status=None, limit=20, repo=repo, as_json=as_json)


@jobs.command("list")
@report_errors
def list_(
    status: Annotated[str | None, typer.Option("--status", help="Only these, as in running or paused_budget.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="At most this many.")] = 20,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show jobs, the newest first."""
    asked: JsonObject = {"limit": limit, **({"status": f"JOB_{status.upper()}"} if status else {})}
    ask("job.list", asked, repo, as_json=as_json)


@jobs.command("show")
@report_errors
def show_(job: JobArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show one job: its state, what it used, and its result."""
    ask("job.show", {"job_id": job}, repo, as_json=as_json)


@jobs.command()
@report_errors
def create(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What is to be achieved; - reads it from stdin.")],
    changes_files: Annotated[
        bool, typer.Option("--changes-files", "-w", help="Let it change files, in a work tree of its own.")
    ] = False,
    steps: Annotated[int, typer.Option("--steps", min=0, help="Tool calls it may make; 0 is the default.")] = 0,
    minutes: Annotated[float, typer.Option("--minutes", min=0, help="How long it may run; 0 is the default.")] = 0,
    toolset: Annotated[str, typer.Option("--toolset", help="Tools it may use: toolsets and families.")] = "",
    model: Annotated[str, typer.Option("--model", "-m", help="provider/model instead of the default.")] = "",
    skill: Annotated[
        list[str] | None, typer.Option("--skill", "-s", help="Do as this skill says; may be repeated.")
    ] = None,
    follow: Annotated[bool, typer.Option("--watch", help="Show what it does until it ends.")] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Queue a job; the server that runs it is started where none runs."""
    asked: JsonObject = {
        "goal": sys.stdin.read() if goal == "-" else goal,
        "changes_files": changes_files,
        "budget": {"max_tool_steps": steps},
        "max_wall_time_ms": int(minutes * 60_000),
        "toolset": toolset,
        "model": model,
        "skills": list(skill or ()),
    }
    client = _running_client(resolve_workspace(repo))
    created = client.call("job.create", asked, text=True)
    if not follow or "error" in created:
        show(created, as_json=as_json)
        return
    _watch(client, result_or_exit(created, as_json=as_json), as_json=as_json)


@jobs.command()
@report_errors
def watch(job: JobArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show what a job does until it ends or needs you; exits with 1 unless it is completed."""
    client = _running_client(resolve_workspace(repo))
    found = result_or_exit(client.call("job.show", {"job_id": job}), as_json=as_json)
    _watch(client, found, as_json=as_json)


@jobs.command()
@report_errors
def diff(job: JobArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show what a job changed in its own work tree."""
    with open_owner_client(resolve_workspace(repo)) as client:
        found = client.call("job.diff", {"job_id": job}, text=True)
    result = found.get("result")
    if as_json or not isinstance(result, dict) or not sys.stdout.isatty():
        show(found, as_json=as_json)
        return
    for line in str(found.get("text")).splitlines():
        print(paint(escape_controls(line), PATCH_COLOURS.get(line[:1], ""), True))


@jobs.command()
@report_errors
def apply(job: JobArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Make the changes of a job in the checkout, as one mutation that undo takes back."""
    ask("job.apply", {"job_id": job}, repo, as_json=as_json)


@jobs.command()
@report_errors
def discard(job: JobArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Remove the work tree of a job with all that it changed."""
    ask("job.discard", {"job_id": job}, repo, as_json=as_json)


@jobs.command()
@report_errors
def cancel(
    job: JobArgument,
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a job and what it started."""
    ask("job.cancel", {"job_id": job, "reason": reason}, repo, as_json=as_json)


@jobs.command()
@report_errors
def resume(
    job: JobArgument,
    steps: Annotated[int, typer.Option("--steps", min=0, help="All tool calls it may make from the start.")] = 0,
    minutes: Annotated[float, typer.Option("--minutes", min=0, help="All the time it may run.")] = 0,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a job that used up its budget go on, by default with as much again."""
    raised: JsonObject = {"budget": {"max_tool_steps": steps}, "max_wall_time_ms": int(minutes * 60_000)}
    ask("job.resume", {"job_id": job, **raised}, repo, as_json=as_json)


def _running_client(workspace: Workspace) -> OwnerClient:
    facts, _ = start_server(workspace)
    return OwnerClient(workspace, facts)


def _watch(client: OwnerClient, job: JsonObject, *, as_json: bool) -> None:
    """Show the job's turn in its thread, up to where it ends or waits for the person."""
    view = TurnView()
    asked: JsonObject = {"thread_id": job["thread_id"], "from_sequence": job["from_sequence"]}
    print(job["job_id"], file=sys.stderr)
    for item in client.stream("thread.watch", asked):
        event, error = item.get("event"), item.get("error")
        if isinstance(error, dict):
            print_error(error)
            raise typer.Exit(EXIT_FAILED)
        if not isinstance(event, dict) or event.get("job_id") != job["job_id"]:
            continue
        if as_json:
            print(dumps(event), flush=True)
        else:
            view.show(event)
        status = _status(event)
        if status in _STOPS and _is_current(client, job, status):
            print(f"{job['job_id']} {status}", file=sys.stderr)
            if job.get("changes_files") and status in ("JOB_COMPLETED", "JOB_FAILED"):
                print(f"next: cpl jobs diff {job['job_id']}, then apply or discard", file=sys.stderr)
            raise typer.Exit(_STOPS[status])


def _status(event: JsonObject) -> str:
    """The state that an event reports; empty for other events."""
    payload = event["payload"]
    assert isinstance(payload, dict)
    return str(payload["status"]) if event["type"] == "job.status_changed" else ""


def _is_current(client: OwnerClient, job: JsonObject, status: str) -> bool:
    """Whether the job is still in that state: a watch begins with what happened before."""
    found = client.call("job.show", {"job_id": job["job_id"]}).get("result")
    return isinstance(found, dict) and found["status"] == status
