"""`cpl uninstall`: take everything back that `cpl init` and `cpl up` put there."""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.surfaces.cli import registration
from codeplane.surfaces.cli.client_secret import folder_of
from codeplane.surfaces.cli.commands.down import down
from codeplane.surfaces.cli.commands.init import cpl_path
from codeplane.surfaces.cli.output import EXIT_FAILED, RepoOption, complain, failing_clearly, workspace_of


@failing_clearly
def uninstall(
    repo: RepoOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    keep_data: Annotated[bool, typer.Option("--keep-data", help="Leave .codeplane/ where it is.")] = False,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Also the clients' entries that serve your other repositories.")
    ] = False,
) -> None:
    """End the server, take CodePlane out of the clients' settings, and delete .codeplane/ with its ledger."""
    workspace = workspace_of(repo)
    changes = registration.plan_removal(
        repo=workspace.root, home=Path.home(), cpl=cpl_path(), environ=os.environ, everywhere=everywhere
    )
    for change in changes:
        if change.action == "skipped":
            print(f"leave   {change.file} ({change.client})  {change.reason}")
    doomed = [f"update  {change.file} ({change.client})" for change in changes if change.action == "updated"]
    if not keep_data and os.path.lexists(workspace.home):
        doomed.append(f"delete  {workspace.home} and the ledger in it")
        if (kept := folder_of(workspace)).is_dir():
            doomed.append(f"delete  {kept}, the secrets of clients that pass answers on")
    if not doomed:
        print("nothing to do")
        return
    print("\n".join(doomed), flush=True)
    if not yes and not (sys.stdin.isatty() and typer.confirm("Go on?", default=False, err=True)):
        print("\nnothing was changed; cpl uninstall --yes does it", file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)
    down(repo=workspace.root)
    failed = [change for change in changes if not _removed(change)]
    if not keep_data:
        shutil.rmtree(folder_of(workspace), ignore_errors=True)
        _delete(workspace.home)
    if failed:
        raise typer.Exit(EXIT_FAILED)
    print("done")


def _removed(change: registration.Change) -> bool:
    try:
        registration.apply(change)
    except registration.RegistrationError as error:
        complain({"message": error.message, "error": error.name, "hint": error.hint})
        return False
    return True


def _delete(home: Path) -> None:
    from codeplane.adapters.disk import refusal

    try:
        if home.is_dir() and not home.is_symlink():
            shutil.rmtree(home)
        else:
            home.unlink(missing_ok=True)
    except OSError as error:
        raise refusal(error, home) from error
