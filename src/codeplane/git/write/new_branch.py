"""New branches: checks that the name is free, and the upstream that git would set."""

import os
from pathlib import Path

from codeplane.git.read.git_error import git_error
from codeplane.git.safety.command import Git
from codeplane.git.write.revision import Revision
from codeplane.index.files.paths import path_text
from codeplane.kernel.call import Call
from codeplane.kernel.errors import GitRefused

_HEADS, _REMOTES = "refs/heads/", "refs/remotes/"


async def refuse_taken(git: Git, name: str, start: Revision, *, instead: str) -> None:
    """Raise GitRefused when a branch cannot have the name, which `checkout -b` notices only after writing files.

    `instead` is the hint for using an existing branch.
    """
    if (await git.run("show-ref", "--verify", "--quiet", f"{_HEADS}{name}", check=False)).code == 0:
        raise GitRefused(f"there is a branch {path_text(name)!r} already", hint=f"{instead}; or choose another name")
    tried = f"start\ncreate {_HEADS}{name} {start.commit}\nprepare\nabort\n"
    await git.run("update-ref", "--stdin", input=tried.encode("utf-8", "surrogateescape"))


async def refuse_elsewhere(git: Git, branch: str) -> None:
    """Raise GitRefused when another work tree has the branch checked out, which git before 2.44 does not check."""
    done = await git.run("for-each-ref", "--format=%(refname)%00%(worktreepath)", f"{_HEADS}{branch}")
    for line in os.fsdecode(done.out).splitlines():
        name, _, place = line.partition("\0")
        if name == f"{_HEADS}{branch}" and place and not _is_same(place, git.root):
            raise git_error("checkout", f"'{branch}' is already checked out at '{place}'", 128)


async def track(git: Git, call: Call, name: str, start: Revision) -> None:
    """Set the upstream of a branch created from another branch, as git does when given a name."""
    if start.ref is None or not start.ref.startswith((_HEADS, _REMOTES)):
        return
    wanted = (await git.run("config", "--get", "branch.autoSetupMerge", check=False)).line.casefold() or "true"
    local = start.ref.startswith(_HEADS)
    if wanted in ("false", "no", "off", "0", "inherit") or (local and wanted != "always"):
        return
    if wanted == "simple" and not start.ref.endswith(f"/{name}"):
        return
    done = await git.run("branch", "--quiet", f"--set-upstream-to={start.ref}", name, check=False)
    # Git is also silent when no remote fetches the branch any more.
    if done.code != 0 and "ambiguous" in done.err:
        call.warn(f"{name} has no upstream: {start.ref} is also the name of a branch")


def _is_same(place: str, root: Path) -> bool:
    return os.path.realpath(place) == os.path.realpath(root)
