"""Our entry in the settings of coding clients, and the `cpl` that it starts."""

import os
import shutil
import sys
from pathlib import Path

from codeplane.adapters.coding_clients import registration
from codeplane.kernel.workspace import Workspace


def cpl_path() -> Path:
    """Return the path of the running `cpl`, as clients can start it."""
    started = Path(sys.argv[0])
    if started.name == "cpl" and started.exists():
        return started.absolute()
    beside = Path(sys.executable).with_name("cpl")
    program = str(beside) if beside.exists() else shutil.which("cpl")
    return Path(program) if program else beside


def plan_workspace(workspace: Workspace, only: list[str]) -> tuple[registration.RegistrationChange, ...]:
    """Return the changes that would register this workspace."""
    return registration.plan(repo=workspace.root, home=Path.home(), cpl=cpl_path(), environ=os.environ, only=only)
