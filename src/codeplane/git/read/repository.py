"""The repository of a workspace: where its git folder is, and how libgit2 opens it."""

import os
from pathlib import Path

import pygit2

from codeplane.kernel.errors import GitRefused, NotGit

_GITFILE = b"gitdir: "
_MAX_GITFILE = 4096


def open_repository(root: Path) -> pygit2.Repository:
    """Open the repository whose work tree is `root`; NotGit or GitRefused says why that fails."""
    git_dir_of(root)
    try:
        repository = pygit2.Repository(str(root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise open_error(root, str(error)) from error
    if repository.is_bare:
        raise bare_repository_error(root)
    return repository


def git_dir_of(root: Path) -> Path:
    """Return the git folder of a work tree, also when `.git` is a file that names it."""
    place = root / ".git"
    if place.is_dir():
        return place
    try:
        with place.open("rb") as file:
            content = file.read(_MAX_GITFILE)
    except OSError:
        if (root / "HEAD").is_file() and (root / "objects").is_dir() and (root / "refs").is_dir():
            raise bare_repository_error(root) from None
        raise NotGit(f"{root} is no git repository") from None
    if not content.startswith(_GITFILE):
        raise GitRefused(".git is a file that names no repository", hint="check the repository: git status")
    git_dir = root / os.fsdecode(content.removeprefix(_GITFILE).rstrip(b"\r\n"))
    if not git_dir.is_dir():
        raise GitRefused(".git names a repository that is not there", hint="git worktree repair fixes a moved one")
    return git_dir


def bare_repository_error(root: Path) -> NotGit:
    """Return the error for a repository without a work tree."""
    return NotGit(f"{root} is a bare repository: it has no work tree", hint="clone it, and work in the clone")


def open_error(root: Path, message: str) -> NotGit | GitRefused:
    """Return the error for a repository that git or libgit2 cannot open, from what they say."""
    words = message.casefold()
    if "not owned by current user" in words or "dubious ownership" in words:
        return NotGit(
            f"{root} belongs to another user, and git does not trust it",
            hint=f"if you trust it, run: git config --global --add safe.directory {root}",
        )
    if "object format" in words or "objectformat" in words:
        return GitRefused(
            "the repository's objects are named by sha256, which libgit2 does not read",
            hint="git_status, git_diff, git_log, git_show and git_blame read it",
        )
    return GitRefused(f"git cannot read the repository: {message.strip()[:500]}", hint="run: git fsck")


def read_plain_file(file: Path) -> bytes:
    """Read a file in git's folder; OSError for a symbolic link, which a hook could have put there."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened_file:
        return opened_file.read()


def common_dir(folder: Path) -> Path:
    """Return the folder that all work trees of a repository share."""
    try:
        return folder / os.fsdecode((folder / "commondir").read_bytes().rstrip(b"\n"))
    except OSError:
        return folder
