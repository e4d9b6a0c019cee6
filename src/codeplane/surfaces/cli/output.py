"""Output of commands: data on stdout, everything else on stderr, errors with a hint."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, ParamSpec, TypeVar

import typer

from codeplane import __version__
from codeplane.kernel.errors import CodePlaneError, InvalidArgument, ServerUnreachable
from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import find_workspace
from codeplane.surfaces.cli.terminal import escape_controls

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NO_SERVER = 3

P = ParamSpec("P")
R = TypeVar("R")

RepoOption = Annotated[
    Path | None, typer.Option("--repo", help="The repository, instead of the one around the current folder.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a setting; can be repeated.")
]


def resolve_workspace(repo: Path | None) -> Workspace:
    """Return the workspace of a command."""
    return find_workspace(repo or Path(), explicit=repo is not None)


def report_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Make a command print its errors as `error: …`, a blank line and `hint: …`, and exit with a code."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with _clear_failure(as_json=bool(kwargs.get("as_json"))):
            return command(*args, **kwargs)

    return run


@contextmanager
def _clear_failure(*, as_json: bool) -> Iterator[None]:
    try:
        yield
    except CodePlaneError as error:
        if as_json:
            print(dumps({"error": error.to_wire()}))
        print_error(error.to_wire())
        raise typer.Exit(_exit_code(error)) from error
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # The reader of our output has seen enough; what is still buffered goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None


def _exit_code(error: CodePlaneError) -> int:
    if isinstance(error, ServerUnreachable):
        return EXIT_NO_SERVER
    # Raised here, not answered by an operation: the command line itself is wrong.
    return EXIT_USAGE if isinstance(error, InvalidArgument) else EXIT_FAILED


def print_error(error: JsonObject) -> None:
    """Print an error and its hint on stderr."""
    text = f"error: {error['message']} ({error['error']})\n\nhint: {error['hint']}"
    print(escape_controls(text) if sys.stderr.isatty() else text, file=sys.stderr)


def result_or_exit(envelope: JsonObject, *, as_json: bool) -> JsonObject:
    """Return the result of a call; print an error and exit."""
    error = envelope.get("error")
    if isinstance(error, dict):
        if as_json:
            print(dumps(envelope))
        print_error(error)
        raise typer.Exit(EXIT_FAILED)
    result = envelope["result"]
    assert isinstance(result, dict)
    return result


def print_rows(rows: list[tuple[str, str]]) -> None:
    """Print aligned rows of a name and a value on stdout."""
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"cpl {__version__}")
        raise typer.Exit


def version(
    show: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """CodePlane: a local-first control plane for coding agents."""


def command_prefix(program: Path, root: Path, *, cwd: Path, path: str | None = None) -> tuple[str, str]:
    """Return how to call `cpl` from `cwd`, and the option that names the repository; `path` is the search path."""
    installed = shutil.which("cpl", path=path)
    if installed is not None and Path(installed).resolve() == program.resolve():
        name = "cpl"
    elif program.is_relative_to(cwd):
        name = shlex.quote(str(program.relative_to(cwd)))
    else:
        name = shlex.quote(str(program))
    inside = cwd.resolve().is_relative_to(root.resolve())
    return name, "" if inside else f" --repo {shlex.quote(str(root))}"
