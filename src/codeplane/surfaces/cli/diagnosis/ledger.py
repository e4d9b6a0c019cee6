"""The log: whether it can be read, and whether the clock agrees with it."""

import sqlite3
import time
from contextlib import closing

from codeplane.kernel.clock import SECOND_NS
from codeplane.kernel.errors import CodePlaneError, ServerUnreachable
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.served import Served

# Every event is looked at, and there can be a million.
_VERIFY_SEC = 60.0
_AHEAD_SEC = 60


def ledger(workspace: Workspace, served: Served | None) -> Check:
    """A log that is damaged, of a newer CodePlane, or whose tables are not what it says."""
    if served is None:
        if not workspace.ledger.exists() or (workspace.ledger.is_file() and not workspace.ledger.stat().st_size):
            return ok("ledger", "none yet")
        if not workspace.ledger.is_file():
            return fail("ledger", f"{workspace.ledger} is no plain file", "see home")
        from codeplane.ledger.salvage import examine

        return ok("ledger", examine(workspace.ledger))
    try:
        envelope = served.envelope("ledger.verify", {}, patience_sec=_VERIFY_SEC)
    except ServerUnreachable:
        return warn("ledger", f"not looked through within {_VERIFY_SEC:.0f} s", "cpl down, then cpl doctor")
    error, result = envelope.get("error"), envelope.get("result")
    if isinstance(error, dict):
        return fail("ledger", str(error["message"]), str(error["hint"]))
    if isinstance(result, dict) and result["ok"]:
        return ok("ledger", str(envelope["text"]))
    return fail("ledger", str(envelope["text"]), "cpl call ledger.rebuild")


def clock(workspace: Workspace) -> Check:
    """A clock that was put back: what is in the log has not happened yet, and what expires does so late."""
    newest = _newest_ns(workspace)
    ahead = (newest - time.time_ns()) // SECOND_NS
    if ahead > _AHEAD_SEC:
        said = f"it is {ahead} s behind the newest event of the ledger: approvals and tokens expire that much later"
        return warn("clock", said, "timedatectl set-ntp true")
    return ok("clock", "not behind the ledger")


def _newest_ns(workspace: Workspace) -> int:
    from codeplane.ledger.database import open_reader

    if not workspace.ledger.is_file():
        return 0
    try:
        with closing(open_reader(workspace.ledger)) as connection:
            (found,) = connection.execute("SELECT coalesce(max(last_at_ns), 0) FROM streams").fetchone()
    except (CodePlaneError, sqlite3.Error):
        return 0  # One that cannot be read is another check's.
    return int(found)
