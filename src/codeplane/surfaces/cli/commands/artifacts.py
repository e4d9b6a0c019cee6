"""`cpl artifacts`: what work left behind."""

import base64
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.commands.call import ask, show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.owner_client import open_owner_client

artifacts = typer.Typer(help="Reports, diffs and pictures that work left behind.", invoke_without_command=True)

_PART_BYTES = 2 * 1024 * 1024
ArtifactArgument = Annotated[
    str, typer.Argument(metavar="ARTIFACT", help="The artifact, as cpl artifacts lists it, or a part of its id.")
]


@artifacts.callback()
@report_errors
def default(context: typer.Context, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the artifacts when no command is named."""
    if context.invoked_subcommand is None:
        list_(thread=None, limit=20, repo=repo, as_json=as_json)


@artifacts.command("list")
@report_errors
def list_(
    thread: Annotated[str | None, typer.Option("--thread", help="Only those of this conversation.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="At most this many.")] = 20,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show artifacts, the newest first."""
    ask("artifact.list", {"limit": limit, **({"thread_id": thread} if thread else {})}, repo, as_json=as_json)


@artifacts.command()
@report_errors
def get(
    artifact_id: ArtifactArgument,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A file that is not there yet.")] = None,
    repo: RepoOption = None,
) -> None:
    """Write the body of an artifact to standard output or a file."""
    with open_owner_client(resolve_workspace(repo)) as client:
        body, offset = bytearray(), 0
        while True:
            asked: JsonObject = {"artifact_id": artifact_id, "offset": offset, "max_bytes": _PART_BYTES}
            answer = client.call("artifact.get", asked)
            part = answer.get("result")
            if not isinstance(part, dict):
                show(answer, as_json=False)
                return
            text = part.get("body")
            body += str(text).encode() if text is not None else base64.b64decode(str(part["content_base64"]))
            if part.get("next_offset") is None:
                break
            offset = int(str(part["next_offset"]))
    if output is None:
        sys.stdout.buffer.write(body)
        return
    try:
        with output.open("xb") as file:
            file.write(body)
    except FileExistsError as error:
        raise InvalidArgument(f"{output} is there already", hint="name a file that is not there yet") from error


@artifacts.command()
@report_errors
def put(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What to keep.", exists=True, dir_okay=False)],
    name: Annotated[str, typer.Option("--name", help="Another name for it.")] = "",
    description: Annotated[str, typer.Option("--description", help="One line on what it is.")] = "",
    thread: Annotated[str, typer.Option("--thread", help="The conversation it belongs to.")] = "",
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep a file as an artifact."""
    content = file.read_bytes()
    parts = [content[start : start + _PART_BYTES] for start in range(0, len(content), _PART_BYTES)] or [b""]
    with open_owner_client(resolve_workspace(repo)) as client:
        named: JsonObject = {"name": name or file.name, "description": description, "thread_id": thread}
        first: JsonObject = {**named, "content_base64": base64.b64encode(parts[0]).decode()}
        answer = client.call("artifact.put", first, text=not as_json)
        start = len(parts[0])
        for part in parts[1:]:
            made = answer.get("result")
            if not isinstance(made, dict):
                break
            further: JsonObject = {"artifact_id": made["artifact_id"], "start": start}
            further["content_base64"] = base64.b64encode(part).decode()
            answer = client.call("artifact.extend", further, text=not as_json)
            start += len(part)
            if "result" not in answer:
                # Half of a file is nothing that anybody wants to find.
                client.call("artifact.delete", {"artifact_id": made["artifact_id"]})
    show(answer, as_json=as_json)


@artifacts.command()
@report_errors
def delete(artifact_id: ArtifactArgument, repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Delete an artifact for good."""
    ask("artifact.delete", {"artifact_id": artifact_id}, repo, as_json=as_json)
