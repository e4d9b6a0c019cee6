"""Checks of `.codeplane/`: access, ownership, and leftovers of the last run."""

import json
import os
import shutil
from pathlib import Path

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import restart_command
from codeplane.surfaces.cli.discovery import ServerFacts

_LOW_BYTES = 500 * 1024 * 1024
_FULL_BYTES = 4 * 1024 * 1024


def home(workspace: Workspace) -> Check:
    """Check that the folder exists, is writable, holds only files, and has free space."""
    folder = workspace.home
    if not folder.exists():
        return warn("home", f"{folder} is not there", "cpl init")
    if not folder.is_dir():
        return fail("home", f"{folder} is not a folder", f"mv {folder} {folder}.old")
    if not os.access(folder, os.W_OK | os.X_OK):
        return fail("home", f"{folder} is read-only", f"chmod u+rwx {folder}, or remount its disk for writing")
    if odd := [path for path in _startup_files(workspace) if os.path.lexists(path) and not path.is_file()]:
        moves = " && ".join(f"mv {path} {path}.old" for path in odd)
        return fail("home", f"no plain file: {', '.join(path.name for path in odd)}", moves)
    space = os.statvfs(folder)
    free = space.f_bavail * space.f_frsize
    if free < _FULL_BYTES:
        message = f"its disk is full ({free // 1024} KB left): nothing can be recorded"
        return fail("home", message, "free some space; it goes on by itself")
    if space.f_files and not space.f_favail:
        return fail("home", "its disk has no room for one more file (no inode is free)", "delete files there")
    if free < _LOW_BYTES:
        return warn("home", f"{free // 2**20} MB left on its disk", "free some space")
    return ok("home", f"{folder}, {shutil.disk_usage(folder).free // 2**30} GB free")


def ownership(workspace: Workspace) -> Check:
    """Check for a `.codeplane/` that came with the repository, with someone else's settings and token."""
    from codeplane.adapters.home import refuse_foreign

    try:
        refuse_foreign(workspace)
    except CodePlaneError as error:
        return fail("ownership", error.message, error.hint)
    return ok("ownership", ".codeplane is not part of the repository")


def check_unfinished(workspace: Workspace, facts: ServerFacts | None) -> Check:
    """Check for changes that were interrupted; the next start recovers them if it can."""
    # What the running server started is not left over from the last run.
    before = _write_time(workspace.server) if facts is not None else None
    folders = (workspace.home / "journal", workspace.home / "git", workspace.home / "git-reversals")
    left = [place for folder in folders for place in _entries(folder, before)]
    if not left:
        return ok("unfinished", "no change is half made")
    names = ", ".join(place.name for place in left[:3]) + (" and more" if len(left) > 3 else "")
    if facts is None:
        return warn("unfinished", f"in progress when the last run ended: {names}", "cpl up completes or undoes it")
    message = f"could neither be completed nor undone: {names}"
    return fail("unfinished", message, f"cpl doctor --logs says why; fix that, then {restart_command(facts)}")


def check_attached(workspace: Workspace, facts: ServerFacts | None) -> Check:
    """Check for attached folders that no longer exist, and for an unreadable list of them."""
    broken = workspace.attached.with_name(f"{workspace.attached.name}.broken")
    if broken.exists():
        return warn("attached", f"{broken} could not be read", f"attach them again, then rm {broken}")
    if workspace.attached.exists() and not workspace.attached.is_file():
        return warn("attached", f"{workspace.attached} is not a regular file", "see home")
    try:
        entries = json.loads(workspace.attached.read_bytes())["workspaces"]
        roots = {str(entry["name"]): entry.get("root") for entry in entries}
    except FileNotFoundError:
        return ok("attached", "no further workspace")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return warn(
            "attached", f"{workspace.attached} cannot be read: {error}", f"{restart_command(facts)} sets it aside"
        )
    for name, root in roots.items():
        if isinstance(root, str) and not Path(root).is_dir():
            return warn("attached", f"{name}: {root} is not there", f"cpl call workspace.detach name={name}")
    return ok("attached", ", ".join(roots) or "no further workspace")


def _startup_files(workspace: Workspace) -> list[Path]:
    """Return the files that a server opens at its start."""
    ours = [workspace.lock, workspace.repo_id, workspace.server_key, workspace.owner_token, workspace.agent_keys]
    ours += [workspace.ledger, workspace.home / "index.db", workspace.home / "facts.db"]
    return [*ours, workspace.server, workspace.port, workspace.attached]


def _entries(folder: Path, before: float | None) -> list[Path]:
    """Return the folders in it, optionally only those older than a time."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    dated = [(place, _write_time(place)) for place in entries]
    return [place for place, at in dated if at is not None and (before is None or at < before) and place.is_dir()]


def _write_time(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None
