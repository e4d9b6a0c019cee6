"""What around a repository keeps CodePlane from its work: git, other processes, clients, attached folders, people."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from codeplane.kernel.errors import CodePlaneError, ServerRunning
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.diagnosis import Check
from codeplane.surfaces.cli.discovery import ServerFacts

_STARTED = re.compile(r"[\"'](/[^\"'\n]*/cpl)[\"']")


def surroundings(workspace: Workspace, facts: ServerFacts | None) -> Iterator[Check]:
    """What is looked at beside CodePlane's own files; nothing is written."""
    yield worktree(workspace)
    yield ownership(workspace)
    yield clients(workspace)
    yield attached(workspace)
    yield waiting(workspace, facts)


def worktree(workspace: Workspace) -> Check:
    """A merge or rebase that is under way, or a lock that a killed git left: git refuses what is asked of it."""
    import pygit2

    from codeplane.repo.git.state import state_in

    try:
        found = pygit2.Repository(str(workspace.root), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, KeyError):
        return Check(name="worktree", verdict="warn", found="no git here; git operations are refused", fix="git init")
    lock = Path(found.path) / "index.lock"
    if lock.exists():
        said = f"{lock} is there: another git is at work, or was killed"
        return Check(name="worktree", verdict="warn", found=said, fix=f"when no git runs: rm {lock}")
    if (state := state_in(Path(found.path))) != "none":
        fix = "git status says how to continue or abort it"
        return Check(name="worktree", verdict="warn", found=f"a {state} is under way", fix=fix)
    return Check(name="worktree", verdict="ok", found="nothing is under way in git")


def ownership(workspace: Workspace) -> Check:
    """A `.codeplane/` that came with the repository: its settings and token are somebody else's."""
    from codeplane.adapters.home import refuse_foreign

    try:
        refuse_foreign(workspace)
    except CodePlaneError as error:
        return Check(name="ownership", verdict="fail", found=error.message, fix=error.hint)
    return Check(name="ownership", verdict="ok", found=".codeplane is not part of the repository")


def holder(workspace: Workspace) -> Check | None:
    """A process that has the repository although no server answers."""
    from codeplane.adapters.file_lock import FileLock

    if not workspace.lock.exists():
        return None
    lock = FileLock(workspace.lock)
    try:
        lock.acquire()
    except ServerRunning:
        said = "another process has this repository and does not answer yet"
        return Check(name="server", verdict="warn", found=said, fix="wait a moment; cpl down ends it")
    except CodePlaneError:
        return None  # A folder that cannot be written is another check's.
    lock.release()
    return None


def clients(workspace: Workspace) -> Check:
    """Coding clients that would start a `cpl` which is not there any more."""
    # The commands import this file.
    from codeplane.surfaces.cli.commands.init import plan_for

    registered: list[str] = []
    offered: list[str] = []
    for change in plan_for(workspace, []):
        gone = [path for path in _STARTED.findall(change.before or "") if not os.path.exists(path)]  # noqa: PTH110
        if gone and change.action != "unchanged":
            said = f"{change.client} starts {gone[0]}, which is not there"
            return Check(name="clients", verdict="warn", found=said, fix="cpl init")
        (registered if change.action == "unchanged" else offered).append(change.client)
    said = f"registered: {', '.join(registered) or 'none'}"
    return Check(name="clients", verdict="ok", found=said + (f"; also here: {', '.join(offered)}" if offered else ""))


def attached(workspace: Workspace) -> Check:
    """Attached folders that are gone, and a list that could not be read."""
    broken = workspace.attached.with_name(f"{workspace.attached.name}.broken")
    if broken.exists():
        return Check(name="attached", verdict="warn", found=f"{broken} could not be read", fix="attach again; rm it")
    try:
        entries = json.loads(workspace.attached.read_bytes())["workspaces"]
        roots = {str(entry["name"]): entry.get("root") for entry in entries}
    except FileNotFoundError:
        return Check(name="attached", verdict="ok", found="no further workspace")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        said = f"{workspace.attached} cannot be read: {error}"
        return Check(name="attached", verdict="warn", found=said, fix="cpl down && cpl up sets it aside")
    for name, root in roots.items():
        if isinstance(root, str) and not Path(root).is_dir():
            fix = f"cpl call workspace.detach name={name}"
            return Check(name="attached", verdict="warn", found=f"{name}: {root} is not there", fix=fix)
    return Check(name="attached", verdict="ok", found=", ".join(roots) or "no further workspace")


def waiting(workspace: Workspace, facts: ServerFacts | None) -> Check:
    """Questions that agents wait for: what looks stuck may only need an answer."""
    if facts is None:
        return Check(name="waiting", verdict="ok", found="not known without a server")
    try:
        result = Client(workspace, facts).call("approval.list", {"status": "PENDING", "limit": 100}).get("result")
    except CodePlaneError as error:
        return Check(name="waiting", verdict="fail", found=error.message, fix=error.hint)
    items = result.get("items") if isinstance(result, dict) else None
    count = len(items) if isinstance(items, list) else 0
    said = f"{count}{'+' if count == 100 else ''} questions wait for you: cpl approvals" if count else "nothing"
    return Check(name="waiting", verdict="ok", found=said)
