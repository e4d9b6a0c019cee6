"""`cpl init`: set up a repository and register with the coding clients."""

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from codeplane.adapters.coding_clients import registration
from codeplane.adapters.coding_clients.install_record import InstallRecord
from codeplane.adapters.coding_clients.own_entry import plan_workspace
from codeplane.kernel.json import JsonObject, JsonValue, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.first_index import build_index, index_summary
from codeplane.surfaces.cli.output import EXIT_FAILED, JsonOption, RepoOption, report_errors, resolve_workspace

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The outcome for one file."""

    file: Path
    action: str
    reason: str = ""
    client: str | None = None


@report_errors
def init(
    repo: RepoOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before changing a client's settings.")] = False,
    clients: Annotated[bool, typer.Option("--clients/--no-clients", help="Register with coding clients.")] = True,
    only: Annotated[list[str] | None, typer.Option("--client", help="Only this client; can be repeated.")] = None,
    index: Annotated[bool, typer.Option("--index/--no-index", help="Build the first index now.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Create .codeplane/, register CodePlane with the coding clients found here, and index; safe to run again."""
    workspace = resolve_workspace(repo)
    changes = plan_workspace(workspace, only or []) if clients else ()
    rows = _own_files(workspace) + [_register(change, yes=yes) for change in changes]
    _remember(workspace, rows, changes)
    built = build_index(workspace) if index else None
    _report(rows, built, as_json=as_json)
    if any(row.action == "failed" for row in rows) or (built is not None and built["action"] == "failed"):
        raise typer.Exit(EXIT_FAILED)


def _remember(workspace: Workspace, rows: list[Row], changes: tuple[registration.RegistrationChange, ...]) -> None:
    """Record what was created, for cpl uninstall --everywhere."""
    from codeplane.adapters.file_replacement import storage_error

    done = {(row.file, row.client) for row in rows if row.action in ("created", "updated")}
    made = [change.made for change in changes if change.made is not None and (change.file, change.client) in done]
    installed = InstallRecord.load(Path.home(), os.environ)
    record = installed.with_repository(workspace.root.resolve(), made)
    try:
        if record != installed:
            record.save()
    except OSError as error:
        raise storage_error(error, installed.file) from error


def _own_files(workspace: Workspace) -> list[Row]:
    from codeplane.adapters.file_replacement import replace_file
    from codeplane.adapters.home import prepare_home

    fresh = set(prepare_home(workspace))
    if not workspace.config.exists():
        replace_file(workspace.config, CONFIG_TEMPLATE)
        fresh.add(workspace.config)
    own = (workspace.home, workspace.ignore, workspace.repo_id, workspace.config)
    return [Row(file=path, action="created" if path in fresh else "unchanged") for path in own]


def _register(change: registration.RegistrationChange, *, yes: bool) -> Row:
    row = Row(file=change.file, action=change.action, reason=change.reason, client=change.client)
    if change.action in ("unchanged", "skipped"):
        return row
    if not yes and not _confirm(change):
        return replace(row, action="skipped", reason="not asked for; cpl init --yes does it")
    try:
        registration.apply(change)
    except registration.RegistrationError as error:
        return replace(row, action="failed", reason=f"{error.message}; {error.hint}")
    return row


def _confirm(change: registration.RegistrationChange) -> bool:
    if not sys.stdin.isatty():
        return False
    return typer.confirm(f"Register CodePlane with {change.client} in {change.file}?", default=True, err=True)


def _report(rows: list[Row], index: JsonObject | None, *, as_json: bool) -> None:
    if as_json:
        files: list[JsonValue] = [
            {"file": str(row.file), "client": row.client, "action": row.action, "reason": row.reason} for row in rows
        ]
        print(dumps({"files": files, **({"index": index} if index is not None else {}), "undo": "cpl uninstall"}))
        return
    for row in rows:
        whose = f" ({row.client})" if row.client else ""
        print(f"{row.action:<9}  {row.file}{whose}{f'  {row.reason}' if row.reason else ''}")
    if index is not None:
        print(index_summary(index))
    print("\nnext: cpl up    undo: cpl uninstall", file=sys.stderr)
