"""`cpl policy`: show the policy in force, check one, and explain a decision."""

import json
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import InvalidArgument
from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.surfaces.cli.commands.call import ask
from codeplane.surfaces.cli.output import JsonOption, RepoOption, report_errors

_MAX_BYTES = 128 * 1024

policy = typer.Typer(help="The rules that decide what runs, asks or is refused.", no_args_is_help=True)


@policy.command()
@report_errors
def show(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """Show the policy in force: version, files, mode, and what asks."""
    ask("policy.summary", {}, repo, as_json=as_json)


@policy.command()
@report_errors
def check(
    file: Annotated[Path | None, typer.Argument(help="A policy; without it, all in .codeplane/policy.")] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check a policy and print problems with file and line; exits with 1 when it cannot be used."""
    asked: JsonObject = {"text": _text(file), "name": file.name} if file is not None else {}
    ask("policy.check", asked, repo, as_json=as_json)


@policy.command()
@report_errors
def explain(
    operation: Annotated[str, typer.Argument(help="Its name, as in git.push.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE…", help="KEY=text, KEY:=json")] = None,
    actor: Annotated[str, typer.Option("--actor", help="owner, device, agent, assistant or job.")] = "agent",
    risk: Annotated[str | None, typer.Option("--risk", help="Instead of the risk that the call has.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="Instead of trust.mode.")] = None,
    untrusted: Annotated[
        bool | None, typer.Option("--untrusted/--trusted", help="As if untrusted content had been read, or not.")
    ] = None,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how a call would be decided, by which rules, and what they see of it."""
    asked: JsonObject = {"operation": operation, "arguments": parse_assignments(arguments or []), "actor": actor}
    asked |= {"risk": risk.upper()} if risk is not None else {}
    asked |= {"mode": mode} if mode is not None else {}
    asked |= {"untrusted": untrusted} if untrusted is not None else {}
    ask("policy.explain", asked, repo, as_json=as_json)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            raw = opened.read(_MAX_BYTES + 1)
        text = raw.decode()
    except OSError as error:
        raise InvalidArgument(f"{file} cannot be read: {error.strerror}", hint="name a .rego file") from error
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"{file} is not UTF-8", hint="name a .rego file") from error
    if len(raw) > _MAX_BYTES:
        raise InvalidArgument(f"{file} is larger than {_MAX_BYTES} bytes", hint="name a .rego file")
    return text


def parse_assignments(arguments: list[str]) -> JsonObject:
    """Parse KEY=text and KEY:=json; InvalidArgument for anything else."""
    given: JsonObject = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not equals or not name.removesuffix(":"):
            raise InvalidArgument(f"{argument!r} is not KEY=VALUE", hint="write arguments as KEY=text or KEY:=json")
        value: JsonValue = text
        if name.endswith(":"):
            try:
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise InvalidArgument(f"{name} is not JSON: {error}", hint="write KEY:=json") from error
        given[name.removesuffix(":")] = value
    return given
