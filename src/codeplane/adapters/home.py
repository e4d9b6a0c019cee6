"""The `.codeplane/` folder of a repository."""

import os
import uuid
from pathlib import Path

from codeplane.adapters.file_replacement import replace_file, storage_error
from codeplane.adapters.pygit2_repo import GitRepo
from codeplane.disk.git_folders import is_git_folder
from codeplane.kernel.errors import ConfigInvalid, NotGit
from codeplane.kernel.workspace import Workspace

_TAKEN_OUT = "git rm {} .codeplane && git commit -m 'Take out .codeplane'"


def prepare_home(workspace: Workspace) -> list[Path]:
    """Create `.codeplane/` and return what was created; NotGit for a bare repository."""
    refuse_bare(workspace)
    created: list[Path] = []
    try:
        if not workspace.home.is_dir():
            # Another process may make it this very moment.
            workspace.home.mkdir(mode=0o700, exist_ok=True)
            created.append(workspace.home)
    except OSError as error:
        raise storage_error(error, workspace.home) from error
    for path, text in ((workspace.ignore, "*\n"), (workspace.repo_id, f"{uuid.uuid4()}\n")):
        if not path.exists():
            replace_file(path, text)
            created.append(path)
    return created


def refuse_bare(workspace: Workspace) -> None:
    """Raise NotGit in a bare repository, where files that agents write would become git's settings."""
    if os.path.lexists(workspace.root / ".git"):
        return
    for folder in (workspace.root, *workspace.root.parents):
        if is_git_folder(folder):
            what = "is" if folder == workspace.root else f"lies in {folder}, which is"
            raise NotGit(
                f"{workspace.root} {what} a bare repository, or the git folder of one: it has no work tree",
                hint="clone it, and work in the clone",
            )


def refuse_foreign(workspace: Workspace) -> None:
    """Refuse a `.codeplane/` that came with the repository, with its own settings and token."""
    files = (
        workspace.config,
        workspace.owner_token,
        workspace.attached,
        workspace.server_key,
        workspace.agent_keys,
        workspace.tls,
        workspace.policy,
    )
    ours = [path.relative_to(workspace.root).as_posix() for path in files]
    if workspace.home.is_symlink() or (workspace.home / ".git").exists():
        raise ConfigInvalid(
            f"{workspace.home.name} leads elsewhere or is a repository of its own, so it is not the owner's own",
            hint="take it away, and start again",
        )
    if tracked := GitRepo(workspace.root).tracks(*ours):
        raise ConfigInvalid(
            f"{tracked[0]} is under version control, so it is not the owner's own",
            hint=(
                f"yours: {_TAKEN_OUT.format('-r --cached')} keeps the files; "
                f"somebody else's: {_TAKEN_OUT.format('-rf')} deletes those that came with the repository"
            ),
        )
