"""`cpl call`: any operation, through the running server or an embedded one."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.embedded import EmbeddedClient
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    SetOption,
    complain,
    failing_clearly,
    workspace_of,
)

_MAX_INPUT_BYTES = 16 * 1024 * 1024


@failing_clearly
def call(
    operation: Annotated[
        str | None, typer.Argument(help="Its name, as in session.info; without one, all are listed.")
    ] = None,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="KEY=text, KEY:=json, SECTION.KEY=text")
    ] = None,
    repo: RepoOption = None,
    source: Annotated[
        Path | None, typer.Option("--input", help="A file with the arguments as JSON; - for stdin.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print a stream's items as they come.")] = False,
    overrides: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Call an operation and print its answer; --json prints the envelope."""
    workspace = workspace_of(repo)
    given = _merge(_read(source) if source else {}, arguments or [])
    client = client_for(workspace, overrides or [])
    if operation is None:
        operation, given = "operation.list", {}
    if follow:
        _follow(client, operation, given, as_json=as_json)
    else:
        show(client.call(operation, given, text=not as_json), as_json=as_json)


def client_for(workspace: Workspace, overrides: list[str]) -> Client | EmbeddedClient:
    """The running server's client, or one with a CodePlane of its own."""
    facts = find_server(workspace)
    return Client(workspace, facts) if facts is not None else EmbeddedClient(workspace, overrides)


def show(envelope: JsonObject, *, as_json: bool) -> None:
    """Print an envelope for people or verbatim, and exit with 1 when it is an error."""
    error = envelope.get("error")
    if as_json:
        print(dumps(envelope))
    elif isinstance(error, dict):
        complain(error)
    else:
        _print_result(envelope)
    if error is not None:
        raise typer.Exit(EXIT_FAILED)


def _print_result(envelope: JsonObject) -> None:
    meta = envelope.get("meta")
    text = envelope.get("text")
    print(text if isinstance(text, str) else json.dumps(envelope.get("result"), indent=2, ensure_ascii=False))
    for warning in meta.get("warnings", []) if isinstance(meta, dict) else []:
        print(f"warning: {warning}", file=sys.stderr)


def _follow(client: Client | EmbeddedClient, operation: str, arguments: JsonObject, *, as_json: bool) -> None:
    for item in client.stream(operation, arguments):
        if item.get("end"):
            error = item.get("error")
            if isinstance(error, dict):
                complain(error)
                raise typer.Exit(EXIT_FAILED)
            return
        print(dumps(item) if as_json else json.dumps(item, ensure_ascii=False), flush=True)


def _read(source: Path) -> JsonObject:
    try:
        raw = sys.stdin.buffer.read(_MAX_INPUT_BYTES + 1) if str(source) == "-" else source.read_bytes()
        found = json.loads(raw) if len(raw) <= _MAX_INPUT_BYTES else None
    except OSError as error:
        raise InvalidArgument(f"{source} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidArgument(f"{source} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise InvalidArgument(f"{source} must hold one JSON object of at most {_MAX_INPUT_BYTES} bytes")
    return found


def _merge(given: JsonObject, arguments: list[str]) -> JsonObject:
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals or not name.rstrip(":"):
            raise InvalidArgument(f"{argument!r} is not KEY=VALUE", hint="write for example limit=5")
        value: JsonValue = text
        if name.endswith(":"):
            name = name[:-1]
            try:
                value = json.loads(text)
            except ValueError as error:
                raise InvalidArgument(f"{name} is not JSON: {error}") from error
        *path, last = name.split(".")
        target = given
        for part in path:
            inner = target.setdefault(part, {})
            if not isinstance(inner, dict):
                raise InvalidArgument(f"{name}: {part} is already a value")
            target = inner
        target[last] = value
    return given
