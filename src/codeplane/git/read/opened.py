"""A workspace's repository: where git keeps it, and as libgit2 opens it."""

import os
from pathlib import Path

import pygit2

from codeplane.kernel.errors import GitRefused, NotGit

_GITFILE = b"gitdir: "
_MAX_GITFILE = 4096


def opened(root: Path) -> pygit2.Repository:
    """The repository whose work tree is the root; a typed error says why there is none."""
    git_dir_of(root)
    try:
        repository = pygit2.Repository(str(root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise not_opened(root, str(error)) from error
    if repository.is_bare:
        raise bare(root)
    return repository


def git_dir_of(root: Path) -> Path:
    """The folder where git keeps what belongs to this work tree, also when `.git` is a file that names it."""
    place = root / ".git"
    if place.is_dir():
        return place
    try:
        with place.open("rb") as file:
            said = file.read(_MAX_GITFILE)
    except OSError:
        if (root / "HEAD").is_file() and (root / "objects").is_dir() and (root / "refs").is_dir():
            raise bare(root) from None
        raise NotGit(f"{root} is no git repository") from None
    if not said.startswith(_GITFILE):
        raise GitRefused(".git is a file that names no repository", hint="check the repository: git status")
    named = root / os.fsdecode(said.removeprefix(_GITFILE).rstrip(b"\r\n"))
    if not named.is_dir():
        raise GitRefused(".git names a repository that is not there", hint="git worktree repair mends a moved one")
    return named


def bare(root: Path) -> NotGit:
    """What is said of a repository without a work tree."""
    return NotGit(f"{root} is a bare repository: it has no work tree", hint="clone it, and work in the clone")


def not_opened(root: Path, said: str) -> NotGit | GitRefused:
    """What git's or libgit2's words mean when they will not open a repository that is there."""
    words = said.casefold()
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
    return GitRefused(f"git cannot read the repository: {said.strip()[:500]}", hint="run: git fsck")


def plain_bytes(file: Path) -> bytes:
    """What a file of git's folder holds; OSError for a link, which a hook can make of any of them."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened_file:
        return opened_file.read()


def common(folder: Path) -> Path:
    """Where the work trees of a repository keep what they share."""
    try:
        return folder / os.fsdecode((folder / "commondir").read_bytes().rstrip(b"\n"))
    except OSError:
        return folder
