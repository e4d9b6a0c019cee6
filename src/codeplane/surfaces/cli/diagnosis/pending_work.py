"""Checks of what waits for a person: approvals, unknown outcomes, exhausted tasks."""

import time
from datetime import datetime

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.diagnosis.check import Check, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import ServerProbe

_PAGE = 100
_RECENT_SEC = 7 * 86_400
_BUDGET = "codeplane_task_budget_used_ratio"


def pending_work(served: ServerProbe | None) -> Check:
    """Check for work that looks stuck and waits for a person."""
    if served is None:
        return ok("waiting", "not known without a server")
    listed = served.result_of("approval.list", {"status": "APPROVED", "limit": _PAGE})
    unknown = [item for item in _items(listed) if item.get("outcome_unknown") and _is_recent(item)]
    if unknown:
        message = f"{len(unknown)} approved actions were interrupted, and their outcome is unknown"
        fix = f"cpl approvals show {unknown[0]['action_id']}; look at the repository; they are not run again"
        return warn("waiting", message, fix)
    if (used := served.metric(_BUDGET)) is not None and used >= 1:
        message = "a task has used up its limits: what it calls is refused"
        return warn("waiting", message, "cpl call task.list state=OPEN names it; session.configure adds to its limits")
    count = int(str(listed.get("pending") or 0))
    message = f"{count} question{'s wait' if count != 1 else ' waits'} for you: cpl approvals"
    return ok("waiting", message if count else "nothing")


def _items(listed: JsonObject) -> list[JsonObject]:
    items = listed.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _is_recent(action: JsonObject) -> bool:
    at = datetime.fromisoformat(str(action["created_at"])[:19] + "+00:00").timestamp()
    return time.time() - at < _RECENT_SEC
