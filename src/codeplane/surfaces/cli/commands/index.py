"""`cpl index`: export, import and rebuild the index."""

import shutil
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.commands.call import show
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors, resolve_workspace
from codeplane.surfaces.cli.owner_client import open_owner_client

index = typer.Typer(help="Export an index to a fresh clone, or rebuild it.", no_args_is_help=True)


@index.command()
@report_errors
def export(
    file: Annotated[Path, typer.Argument(help="The archive to write.")],
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the facts and vectors of this repository into one file."""
    workspace = resolve_workspace(repo)
    with open_owner_client(workspace) as client:
        envelope = client.call("index.export", {}, text=not as_json)
    result = envelope.get("result")
    if isinstance(result, dict):
        try:
            shutil.move(str(result["path"]), file)
        except OSError as error:
            raise InvalidArgument(f"{file} cannot be written: {error.strerror}", hint="name another file") from error
        _with_chosen_path(envelope, result, file)
    show(envelope, as_json=as_json)


@index.command("import")
@report_errors
def import_(
    file: Annotated[Path, typer.Argument(help="An archive that cpl index export wrote.")],
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import what an archive holds of files that are identical here."""
    workspace = resolve_workspace(repo)
    workspace.exports.mkdir(parents=True, exist_ok=True)
    brought = workspace.exports / f"import-{uuid4()}.cplindex"
    try:
        shutil.copyfile(file, brought)
    except OSError as error:
        raise InvalidArgument(f"{file} cannot be read: {error.strerror}", hint="name an archive") from error
    try:
        with open_owner_client(workspace) as client:
            envelope = client.call("index.import", {"name": brought.name}, text=not as_json)
    finally:
        brought.unlink(missing_ok=True)
    show(envelope, as_json=as_json)


@index.command()
@report_errors
def rebuild(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Read every file again; normally not needed."""
    with open_owner_client(resolve_workspace(repo)) as client:
        envelope = client.call("index.rebuild", {}, text=not as_json)
    show(envelope, as_json=as_json)


def _with_chosen_path(envelope: JsonObject, result: JsonObject, file: Path) -> None:
    """Replace the path of the archive by the one the person chose."""
    text = envelope.get("text")
    if isinstance(text, str):
        envelope["text"] = text.replace(str(result["path"]), str(file), 1)
    result["path"] = str(file)
