"""`cpl init`: set a repository up, and tell the coding clients about it."""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import StorageReadOnly
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli import registration
from codeplane.surfaces.cli.output import EXIT_FAILED, JsonOption, RepoOption, failing_clearly, workspace_of

CONFIG_TEMPLATE = """\
# CodePlane's settings for this repository. Everything is optional; what is left out has its default.
# All settings: docs/reference/settings.md, or the resource codeplane://docs/reference/settings.
#
# limits:
#   max_mutations: 1000
# logging:
#   level: INFO
# trust:
#   mode: trust
"""


@failing_clearly
def init(
    repo: RepoOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before changing a client's settings.")] = False,
    clients: Annotated[bool, typer.Option("--clients/--no-clients", help="Register with coding clients.")] = True,
    only: Annotated[list[str] | None, typer.Option("--client", help="Only this client; can be repeated.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Create .codeplane/ and register CodePlane with the coding clients found here; safe to run again."""
    workspace = workspace_of(repo)
    rows = _own_files(workspace)
    failed = False
    if clients:
        for change in plan_for(workspace, only or []):
            row = _register(change, yes=yes)
            failed |= row[1] == "failed"
            rows.append(row)
    _report(rows, as_json=as_json)
    if failed:
        raise typer.Exit(EXIT_FAILED)


def plan_for(workspace: Workspace, only: list[str]) -> tuple[registration.Change, ...]:
    """What registering this workspace would change."""
    return registration.plan(repo=workspace.root, home=Path.home(), cpl=cpl_path(), environ=os.environ, only=only)


def cpl_path() -> Path:
    """The `cpl` that is running, as clients can start it."""
    started = Path(sys.argv[0])
    if started.name == "cpl" and started.exists():
        return started.absolute()
    beside = Path(sys.executable).with_name("cpl")
    found = str(beside) if beside.exists() else shutil.which("cpl")
    return Path(found) if found else beside


def _own_files(workspace: Workspace) -> list[tuple[str, str, str]]:
    from codeplane.app import prepare

    fresh = set(prepare(workspace))
    if not workspace.config.exists():
        try:
            workspace.config.write_text(CONFIG_TEMPLATE)
        except OSError as error:
            raise StorageReadOnly(f"{workspace.config} cannot be written: {error.strerror}") from error
        fresh.add(workspace.config)
    own = (workspace.home, workspace.ignore, workspace.repo_id, workspace.config)
    return [(str(path), "created" if path in fresh else "unchanged", "") for path in own]


def _register(change: registration.Change, *, yes: bool) -> tuple[str, str, str]:
    name = f"{change.file} ({change.client})"
    if change.action in ("unchanged", "skipped"):
        return name, change.action, change.reason
    if not yes and not _agreed(change):
        return name, "skipped", "not asked for; cpl init --yes does it"
    try:
        registration.apply(change)
    except registration.RegistrationError as error:
        return name, "failed", f"{error}; {error.hint}"
    return name, change.action, change.reason


def _agreed(change: registration.Change) -> bool:
    if not sys.stdin.isatty():
        return False
    return typer.confirm(f"Register CodePlane with {change.client} in {change.file}?", default=True, err=True)


def _report(rows: list[tuple[str, str, str]], *, as_json: bool) -> None:
    if as_json:
        files: list[JsonValue] = [{"file": name, "action": action, "reason": why} for name, action, why in rows]
        answer: JsonObject = {"files": files, "undo": "cpl uninstall"}
        print(dumps(answer))
        return
    for name, action, why in rows:
        print(f"{action:<9}  {name}{f'  ({why})' if why else ''}")
    print("\nnext: cpl up    undo: cpl uninstall", file=sys.stderr)
