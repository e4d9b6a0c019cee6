"""`cpl uninstall`: take everything back that `cpl init` and `cpl up` put there."""

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.errors import StorageReadOnly
from codeplane.surfaces.cli import registration
from codeplane.surfaces.cli.commands.down import down
from codeplane.surfaces.cli.commands.init import cpl_path
from codeplane.surfaces.cli.output import EXIT_FAILED, RepoOption, failing_clearly, workspace_of


@failing_clearly
def uninstall(
    repo: RepoOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    keep_data: Annotated[bool, typer.Option("--keep-data", help="Leave .codeplane/ where it is.")] = False,
) -> None:
    """End the server, take CodePlane out of the clients' settings, and delete .codeplane/ with its ledger."""
    workspace = workspace_of(repo)
    changes = registration.plan_removal(repo=workspace.root, home=Path.home(), cpl=cpl_path(), environ=os.environ)
    doomed = [f"update  {change.file} ({change.client})" for change in changes if change.action == "updated"]
    if not keep_data and workspace.home.exists():
        doomed.append(f"delete  {workspace.home} and the ledger in it")
    if not doomed:
        print("nothing to do")
        return
    print("\n".join(doomed))
    if not yes and not (sys.stdin.isatty() and typer.confirm("Go on?", default=False, err=True)):
        print("\nnothing was changed; cpl uninstall --yes does it", file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)
    down(repo=workspace.root)
    failed = False
    for change in changes:
        try:
            registration.apply(change)
        except registration.RegistrationError as error:
            failed = True
            print(f"error: {error}\n\nhint: {error.hint}", file=sys.stderr)
    if not keep_data and workspace.home.exists():
        try:
            shutil.rmtree(workspace.home)
        except OSError as error:
            raise StorageReadOnly(f"{error.filename} cannot be deleted: {error.strerror}") from error
    if failed:
        raise typer.Exit(EXIT_FAILED)
    print("done")
