"""Checks of the coding clients' configuration."""

import os
import re
import socket
from typing import TYPE_CHECKING

from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, ok, warn

if TYPE_CHECKING:
    from codeplane.adapters.coding_clients.registration import RegistrationChange

_STARTED = re.compile(r"[\"'](/[^\"'\n]*/cpl)[\"']")
_SENT = re.compile(r"http://(?:127\.0\.0\.1|localhost):(\d{1,5})/mcp\b")
_CONNECT_SEC = 2.0


def clients(workspace: Workspace) -> Check:
    """Check for clients that start a missing `cpl`, or that connect where no server answers."""
    # The commands import this package.
    from codeplane.adapters.coding_clients.own_entry import plan_workspace

    registered: list[str] = []
    offered: list[str] = []
    for change in plan_workspace(workspace, []):
        if (message := _find_problem(change)) is not None:
            return warn("clients", message, "cpl init")
        (registered if change.action == "unchanged" else offered).append(change.client)
    message = f"registered: {', '.join(registered) or 'none'}"
    return ok("clients", message + (f"; also here: {', '.join(offered)}" if offered else ""))


def _find_problem(change: "RegistrationChange") -> str | None:
    text = change.before or ""
    missing = [path for path in _STARTED.findall(text) if not os.path.exists(path)]  # noqa: PTH110
    if missing and change.action != "unchanged":
        return f"{change.client} starts {missing[0]}, which is not there"
    for match in _SENT.finditer(text):
        if not _answers(int(match[1])):
            return f"{change.client} is sent to {match[0]}, where no server answers"
    return None


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_SEC).close()
    except (OSError, OverflowError):
        return False
    return True
