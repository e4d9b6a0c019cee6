"""Checks of the repository: readable, no operation in progress, hooks and large files."""

import os
import shutil
from pathlib import Path

from codeplane.kernel.errors import CodePlaneError, NotGit
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn

_ATTRIBUTES_BYTES = 1_000_000


def repository(workspace: Workspace) -> Check:
    """Check for a repository that is missing, distrusted by git, unreadable, or without commits."""
    from codeplane.git.read.repository import open_repository

    root = workspace.root
    try:
        opened = open_repository(root)
    except CodePlaneError as error:
        if isinstance(error, NotGit) and error.hint == NotGit.default_hint:
            return warn("repository", f"{root} has no git; git operations are refused", "git init")
        if "sha256" in error.message:
            return warn("repository", error.message, error.hint)
        return fail("repository", error.message, error.hint)
    if opened.head_is_unborn:
        return warn("repository", f"{root} has no commit", "git commit")
    summary = f"{root} at {str(opened.head.target)[:12]}"
    if opened.head_is_detached:
        summary += ", on no branch"
    if opened.is_shallow:
        return warn("repository", f"{summary}; a shallow clone: older history is missing", "git fetch --unshallow")
    return ok("repository", summary)


def worktree(workspace: Workspace) -> Check:
    """Check for a merge or rebase in progress, or a stale lock, which make git refuse work."""
    from codeplane.git.read.repository import git_dir_of
    from codeplane.git.read.state import progress_in, state_in

    try:
        folder = git_dir_of(workspace.root)
    except CodePlaneError:
        return ok("worktree", "no git here")
    lock = folder / "index.lock"
    if lock.exists():
        message = f"{lock} exists: another git is running, or was killed"
        return warn("worktree", message, f"when no git runs: rm {lock}")
    if (state := state_in(folder)) != "none":
        step = progress_in(folder)
        message = f"a {state} is under way" + (f" ({step})" if step else "")
        return warn("worktree", message, "git status says how to continue or abort it")
    return ok("worktree", "nothing is under way in git")


def hooks(workspace: Workspace) -> Check:
    """Check for a missing hooks folder, and for hooks that git skips silently."""
    from codeplane.git.read.repository import common_dir, open_repository

    try:
        opened = open_repository(workspace.root)
    except CodePlaneError:
        return ok("hooks", "no git here")
    named = next((entry.value for entry in opened.config if entry.name == "core.hookspath"), None)
    folder = workspace.root / Path(named).expanduser() if named else common_dir(Path(opened.path)) / "hooks"
    if named and not folder.is_dir():
        message = f"core.hooksPath names {named}, which does not exist: no hook runs"
        return warn("hooks", message, "git config --unset core.hooksPath, or make the folder")
    try:
        there = [path for path in sorted(folder.iterdir()) if path.suffix != ".sample" and path.is_file()]
    except OSError:
        there = []
    skipped = [path for path in there if path.name.replace("-", "").isalpha() and not os.access(path, os.X_OK)]
    if skipped:
        names = ", ".join(path.name for path in skipped)
        return warn("hooks", f"git skips {names}: not executable", f"chmod +x {' '.join(map(str, skipped))}")
    return ok("hooks", ", ".join(path.name for path in there[:10]) or "none")


def large_files(workspace: Workspace) -> Check:
    """Check for Git LFS files without git-lfs, which are read as pointers."""
    try:
        with (workspace.root / ".gitattributes").open("rb") as file:
            wanted = b"filter=lfs" in file.read(_ATTRIBUTES_BYTES)
    except OSError:
        wanted = False
    if not wanted:
        return ok("lfs", "no file is in Git LFS")
    if shutil.which("git-lfs") is None:
        message = ".gitattributes names files in Git LFS, and git-lfs is not here: their text is a pointer"
        return warn("lfs", message, "apt-get install git-lfs && git lfs pull")
    return ok("lfs", "git-lfs is here")
