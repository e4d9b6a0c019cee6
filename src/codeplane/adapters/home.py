"""The folder CodePlane keeps in a repository, made when it is first needed."""

import uuid
from pathlib import Path

from codeplane.adapters.disk import refusal, replace_file
from codeplane.kernel.workspace import Workspace


def prepare(workspace: Workspace) -> list[Path]:
    """Make `.codeplane/` with what it needs to be there; returns what was created."""
    created: list[Path] = []
    try:
        if not workspace.home.is_dir():
            workspace.home.mkdir(mode=0o700)
            created.append(workspace.home)
    except OSError as error:
        raise refusal(error, workspace.home) from error
    for path, text in ((workspace.ignore, "*\n"), (workspace.repo_id, f"{uuid.uuid4()}\n")):
        if not path.exists():
            replace_file(path, text)
            created.append(path)
    return created
