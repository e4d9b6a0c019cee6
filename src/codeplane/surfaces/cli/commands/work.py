"""`cpl work`: what goes on by itself."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    print_error,
    report_errors,
    resolve_workspace,
)
from codeplane.surfaces.cli.owner_client import open_owner_client

work = typer.Typer(help="Calls that the server makes by itself, one after the other.", invoke_without_command=True)

_MAX_INPUT_BYTES = 16 * 1024 * 1024
_HINT = """write steps as status 'git.commit {"message": "x"}', or in a file: [{"operation": "status"}]"""
_ENDS = {"work.completed": 0, "work.failed": EXIT_FAILED, "work.cancelled": EXIT_FAILED}
WorkArgument = Annotated[
    str, typer.Argument(metavar="WORK", help="The item, as cpl work lists it, or a part of its id.")
]


@work.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the work items when no command is named."""
    if context.invoked_subcommand is None:
        list_(state=None, limit=20, repo=repo, as_json=as_json)


@work.command("list")
@report_errors
def list_(
    state: Annotated[str | None, typer.Option("--state", help="Only these, as in running or waiting.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="At most this many.")] = 20,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show work items, the newest first, with what each started."""
    asked: JsonObject = {"limit": limit, **({"state": state.upper()} if state else {"tree": True})}
    ask("work.list", asked, repo, as_json=as_json)


@work.command("show")
@report_errors
def show_(work_id: WorkArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show one item with its steps."""
    ask("work.show", {"work_id": work_id}, repo, as_json=as_json)


@work.command()
@report_errors
def start(
    steps: Annotated[
        list[str], typer.Argument(metavar="FILE|STEP…", help="A JSON file, - for stdin, or operations with arguments.")
    ],
    title: Annotated[str, typer.Option("--title", help="What it is for.")] = "",
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="Wait for you after so many.")] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", help="Likewise, by their time.")] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have the server make calls one after the other."""
    asked = _start_arguments(steps)
    limits = {"title": title or None, "max_steps": max_steps, "max_seconds": max_seconds}
    asked |= {name: value for name, value in limits.items() if value is not None}
    ask("work.start", asked, repo, as_json=as_json)


@work.command()
@report_errors
def cancel(
    work_id: WorkArgument,
    reason: Annotated[str, typer.Option("--reason", help="Kept in the log.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """End an item and what it started."""
    ask("work.cancel", {"work_id": work_id, "reason": reason}, repo, as_json=as_json)


@work.command()
@report_errors
def resume(
    work_id: WorkArgument,
    max_steps: Annotated[int | None, typer.Option("--max-steps", min=1, help="Its new limit.")] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", help="Its new limit.")] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an item that used up its limits go on."""
    limits = {"max_steps": max_steps, "max_seconds": max_seconds}
    asked: JsonObject = {name: value for name, value in limits.items() if value is not None}
    ask("work.resume", {"work_id": work_id, **asked}, repo, as_json=as_json)


@work.command()
@report_errors
def watch(work_id: WorkArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Print what happens to an item until it ends; exits with 1 when it fails or is cancelled."""
    with open_owner_client(resolve_workspace(repo)) as client:
        found = client.call("work.show", {"work_id": work_id})
        item = found.get("result")
        if not isinstance(item, dict):
            show(found, as_json=as_json)
            return
        for received in client.stream("work.watch", {"work_id": str(item["work_id"])}):
            event, error = received.get("event"), received.get("error")
            if isinstance(error, dict):
                print_error(error)
                raise typer.Exit(EXIT_FAILED)
            if isinstance(event, dict):
                print(dumps(event) if as_json else _line(event), flush=True)
                if (code := _ENDS.get(str(event["type"]))) is not None:
                    raise typer.Exit(code)


def _line(event: JsonObject) -> str:
    payload = event["payload"]
    assert isinstance(payload, dict)
    names = ("operation", "status", "waits_for", "action_id", "holder", "error", "message")
    step = payload.get("step")
    number = f" step {step + 1}" if isinstance(step, int) else ""
    details = "".join(f" {payload[name]}" for name in names if payload.get(name))
    return f"{str(event['occurred_at'])[11:19]} {str(event['type']).removeprefix('work.')}{number}{details}"


def _start_arguments(given: list[str]) -> JsonObject:
    """The arguments of `work.start`: a document that holds them or the steps alone, or steps as they are written."""
    if len(given) == 1 and (given[0] == "-" or Path(given[0]).is_file()):
        document = _document(given[0])
        if isinstance(document, list):
            return {"steps": document}
        if isinstance(document, dict):
            return document
        raise InvalidArgument(f"{given[0]} holds neither steps nor an object with them", hint=_HINT)
    steps: list[JsonValue] = []
    for text in given:
        operation, _, arguments = text.strip().partition(" ")
        try:
            step: JsonObject = {"operation": operation, "arguments": json.loads(arguments) if arguments.strip() else {}}
        except ValueError as error:
            raise InvalidArgument(f"the arguments of {operation} are not JSON: {error}", hint=_HINT) from error
        steps.append(step)
    return {"steps": steps}


def _document(name: str) -> JsonValue:
    try:
        with nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            raw = file.read(_MAX_INPUT_BYTES + 1)
        if len(raw) > _MAX_INPUT_BYTES:
            raise InvalidArgument(f"{name} is longer than {_MAX_INPUT_BYTES} bytes", hint="start it in several parts")
        document: JsonValue = json.loads(raw)
    except OSError as error:
        raise InvalidArgument(f"{name} cannot be read: {error.strerror}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{name} is not JSON: {error}", hint=_HINT) from error
    return document
