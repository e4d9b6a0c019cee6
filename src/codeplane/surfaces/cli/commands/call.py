"""`cpl call`: call any operation through the running server, or without one."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue, canonical, dumps
from codeplane.surfaces.cli.embedded_client import EmbeddedClient
from codeplane.surfaces.cli.output import (
    EXIT_FAILED,
    JsonOption,
    RepoOption,
    SetOption,
    print_error,
    report_errors,
    resolve_workspace,
)
from codeplane.surfaces.cli.owner_client import OwnerClient, open_owner_client

_MAX_INPUT_BYTES = 16 * 1024 * 1024
_HINT = "write arguments as KEY=text, KEY:=json or SECTION.KEY=text; what it takes: cpl call operation.list name=…"


@report_errors
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
    workspace = resolve_workspace(repo)
    given = _merge(_read(source) if source else {}, arguments or [])
    if operation is None:
        operation, given = "operation.list", {}
    with open_owner_client(workspace, overrides or ()) as client:
        if follow:
            _follow(client, operation, given, as_json=as_json)
            return
        envelope = client.call(operation, given, text=not as_json)
    show(envelope, as_json=as_json)


def show(envelope: JsonObject, *, as_json: bool) -> None:
    """Print an envelope as text or verbatim, and exit with 1 if the call failed."""
    error, meta = envelope.get("error"), envelope.get("meta")
    if as_json:
        print(dumps(envelope))
    elif isinstance(error, dict):
        print_error(error)
    else:
        _print_result(envelope)
    if error is not None or (isinstance(meta, dict) and meta.get("unmet")):
        raise typer.Exit(EXIT_FAILED)


def ask(operation: str, asked: JsonObject, repo: Path | None, *, as_json: bool) -> None:
    """Call an operation as the owner and print its answer."""
    with open_owner_client(resolve_workspace(repo)) as client:
        envelope = client.call(operation, asked, text=not as_json)
    show(envelope, as_json=as_json)


def _print_result(envelope: JsonObject) -> None:
    meta = envelope.get("meta")
    text = envelope.get("text")
    print(text if isinstance(text, str) else json.dumps(envelope.get("result"), indent=2, ensure_ascii=False))
    for warning in meta.get("warnings", []) if isinstance(meta, dict) else []:
        print(f"warning: {warning}", file=sys.stderr)


def _follow(client: OwnerClient | EmbeddedClient, operation: str, arguments: JsonObject, *, as_json: bool) -> None:
    for item in client.stream(operation, arguments):
        if item.get("end"):
            error = item.get("error")
            if isinstance(error, dict):
                print_error(error)
                raise typer.Exit(EXIT_FAILED)
            return
        print(dumps(item) if as_json else json.dumps(item, ensure_ascii=False), flush=True)


def _read(source: Path) -> JsonObject:
    try:
        with nullcontext(sys.stdin.buffer) if str(source) == "-" else source.open("rb") as file:
            raw = file.read(_MAX_INPUT_BYTES + 1)
        document = json.loads(raw) if len(raw) <= _MAX_INPUT_BYTES else None
    except OSError as error:
        raise InvalidArgument(f"{source} cannot be read: {error.strerror}", hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{source} is not JSON: {error}", hint=_HINT) from error
    if not isinstance(document, dict):
        raise InvalidArgument(f"{source} must hold one JSON object of at most {_MAX_INPUT_BYTES} bytes", hint=_HINT)
    return document


def _merge(given: JsonObject, arguments: list[str]) -> JsonObject:
    repeated: dict[tuple[str, ...], list[JsonValue]] = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        is_json, name = name.endswith(":"), name.removesuffix(":")
        *path, last = name.split(".")
        if not equals or not all((*path, last)):
            raise InvalidArgument(f"{argument!r} is not KEY=VALUE", hint=_HINT)
        value = _json(name, text) if is_json else text
        target = given
        for part in path:
            inner = target.setdefault(part, {})
            if not isinstance(inner, dict):
                raise InvalidArgument(f"{name}: {part} is already a value", hint=_HINT)
            target = inner
        named = (*path, last)
        if named in repeated:
            # Given twice, it is a list: the last one winning in silence would lose what was meant.
            repeated[named].append(value)
            target[last] = repeated[named]
        else:
            repeated[named] = [value]
            target[last] = value
    try:
        canonical(given)
    except ValueError as error:
        raise InvalidArgument("the arguments cannot be written as JSON in UTF-8", hint=_HINT) from error
    return given


def _json(name: str, text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{name} is not JSON: {error}", hint=_HINT) from error
    return value
