"""Checks of the ledger and the clock."""

import sqlite3
import time
from contextlib import closing

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import CodePlaneError, LedgerCorrupt, ServerUnreachable
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import ServerProbe, restart_command, salvage_command

# Every event is looked at, and there can be a million.
_VERIFY_SEC = 60.0
_AHEAD_SEC = 60


def ledger(workspace: Workspace, served: ServerProbe | None) -> Check:
    """Check for a ledger that is missing, damaged, too new, or inconsistent with its tables."""
    if served is None:
        if not workspace.ledger.exists() or (workspace.ledger.is_file() and not workspace.ledger.stat().st_size):
            return _missing_ledger(workspace)
        if not workspace.ledger.is_file():
            return fail("ledger", f"{workspace.ledger} is not a regular file", "see home")
        from codeplane.ledger.salvage import examine

        return ok("ledger", examine(workspace.ledger))
    if problem := _misplacement(served):
        return fail(
            "ledger", problem, f"{restart_command(served.facts)} goes on with the ledger on disk, or with an empty one"
        )
    try:
        envelope = served.envelope("ledger.verify", {}, patience_sec=_VERIFY_SEC)
    except ServerUnreachable:
        return warn("ledger", f"not looked through within {_VERIFY_SEC:.0f} s", "cpl down, then cpl doctor")
    error, result = envelope.get("error"), envelope.get("result")
    if isinstance(error, dict):
        is_damaged = error.get("error") == LedgerCorrupt.name
        return fail(
            "ledger", str(error["message"]), salvage_command(served.facts) if is_damaged else str(error["hint"])
        )
    if isinstance(result, dict) and result["ok"]:
        return ok("ledger", str(envelope["text"]))
    is_damaged = isinstance(result, dict) and result["integrity"] != "ok"
    # Tables are made from the log, which is of no use where the file itself is damaged.
    return fail(
        "ledger", str(envelope["text"]), salvage_command(served.facts) if is_damaged else "cpl call ledger.rebuild"
    )


def _misplacement(served: ServerProbe) -> str:
    """Return the problem of a ledger that was moved or replaced while it was served."""
    found = served.result_of("status", {"include": ["ledger"]}).get("ledger")
    return str(found.get("problem") or "") if isinstance(found, dict) else ""


def _missing_ledger(workspace: Workspace) -> Check:
    """Return the check for a missing ledger: the first start, or a loss."""
    folders = [workspace.home / name for name in ("undo", "journal", "exports")]
    left = [folder.name + "/" for folder in folders if folder.is_dir() and any(folder.iterdir())]
    left += [file.name for file in (workspace.server_key, workspace.agent_keys) if file.exists()]
    if not left:
        return ok("ledger", "none yet")
    message = (
        f"{workspace.ledger.name} is gone, but there is {', '.join(left)}: tasks, approvals and devices are forgotten"
    )
    return warn(
        "ledger", message, f"put {workspace.ledger} back from a backup; otherwise cpl up -d begins an empty one"
    )


def clock(workspace: Workspace) -> Check:
    """Check for a clock behind the newest event, which makes expiry late."""
    newest = _newest_ns(workspace)
    ahead = (newest - time.time_ns()) // SECOND_NS
    if ahead > _AHEAD_SEC:
        message = f"it is {ahead} s behind the newest event of the ledger: approvals and tokens expire that much later"
        return warn("clock", message, "timedatectl set-ntp true")
    return ok("clock", "not behind the ledger")


def _newest_ns(workspace: Workspace) -> int:
    from codeplane.ledger.database import open_reader

    if not workspace.ledger.is_file():
        return 0
    try:
        with closing(open_reader(workspace.ledger)) as connection:
            (newest_ns,) = connection.execute("SELECT coalesce(max(last_at_ns), 0) FROM streams").fetchone()
    except (CodePlaneError, sqlite3.Error):
        return 0  # One that cannot be read is another check's.
    return int(newest_ns)
