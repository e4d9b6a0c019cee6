"""`cpl status`: the state of the server."""

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import ServerFacts, addresses, addresses_to_json, find_server
from codeplane.surfaces.cli.output import (
    EXIT_NO_SERVER,
    JsonOption,
    RepoOption,
    print_rows,
    report_errors,
    resolve_workspace,
    result_or_exit,
)
from codeplane.surfaces.cli.owner_client import OwnerClient

_LINES = 50
_SEARCHED_LINES = 1000
_POLL_SEC = 0.2


@report_errors
def status(
    repo: RepoOption = None,
    as_json: JsonOption = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also the last 50 lines of the log.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing the server's log.")] = False,
) -> None:
    """Show the server's state, repository and commit; exit code 3 when no server runs."""
    workspace = resolve_workspace(repo)
    facts = find_server(workspace)
    # Taken before anything is shown, so that lines logged meanwhile are not skipped.
    log_end = _LogEnd(workspace.log)
    result = (
        result_or_exit(OwnerClient(workspace, facts).call("status", {}), as_json=as_json) if facts is not None else None
    )
    lines = _last_lines(workspace) if verbose else None
    holder = _holder(workspace) if facts is None else None
    if as_json:
        state: JsonObject = {"running": False, "repo": str(workspace.root)}
        state |= {"held_by": holder} if holder is not None else {}
        if facts is not None and result is not None:
            state = {"running": True, "url": facts.url, **addresses_to_json(facts), **result}
        print(dumps({**state, "paths": _paths(workspace), **({"log": lines} if lines is not None else {})}))
    else:
        if facts is not None and result is not None:
            _show_running(
                workspace, facts, result, _pending_approvals(workspace, facts), _untrusted_agents(workspace, facts)
            )
        else:
            error = _logged_error(workspace)
            print_rows(
                [
                    ("server", _absent(holder)),
                    ("repository", str(workspace.root)),
                    *([("last error", error)] if error else []),
                ]
            )
        print("\n".join(lines or ()), end="\n" if lines else "")
    if follow:
        log_end.follow()
    if facts is None:
        raise typer.Exit(EXIT_NO_SERVER)


def _holder(workspace: Workspace) -> int | None:
    from codeplane.surfaces.cli.diagnosis.server import holder

    return holder(workspace)


def _absent(holder: int | None) -> str:
    if holder is None:
        return "not running; start it: cpl up"
    which = f"pid {holder}" if holder else "another process"
    return f"{which} has this repository and does not answer; when it goes on: kill -9 {holder or 'it'}"


def _last_lines(workspace: Workspace) -> list[str]:
    from codeplane.observe.log_tail import tail

    return tail(workspace.log, _LINES)


def _logged_error(workspace: Workspace) -> str:
    """Return the newest error in the log, also of a server that has ended."""
    from codeplane.observe.log_tail import tail

    for line in reversed(tail(workspace.log, _SEARCHED_LINES)):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("level") == "error":
            parts = (entry.get(name) for name in ("ts", "logger", "event", "reason"))
            return " ".join(str(part) for part in parts if part)
    return ""


def _pending_approvals(workspace: Workspace, facts: ServerFacts) -> str:
    """Return what waits for a person; nothing where that is unknown."""
    result = OwnerClient(workspace, facts).call("approval.list", {"limit": 1}).get("result")
    pending = result.get("pending") if isinstance(result, dict) else None
    if not isinstance(pending, int):
        return ""
    return f"{pending} {'waits' if pending == 1 else 'wait'} for you: cpl approvals" if pending else "none wait"


def _untrusted_agents(workspace: Workspace, facts: ServerFacts) -> str:
    """Return the agents that have read untrusted content, and since when."""
    result = OwnerClient(workspace, facts).call("untrusted.list", {}).get("result")
    items = result.get("items") if isinstance(result, dict) else None
    marks = [mark for mark in items if isinstance(mark, dict)] if isinstance(items, list) else []
    if not marks:
        return ""
    first, others = marks[0], len(marks) - 1
    more = f" and {others} more" if others else ""
    return f"read by {first['agent']}{more} since {str(first['since'])[:19]}Z: cpl approvals untrusted"


def _git_left(ledger: JsonObject) -> str:
    """Return the git processes of the last server that still run."""
    return ", ".join(map(str, _list(ledger.get("git_still_runs") or [])))


def _show_running(workspace: Workspace, facts: ServerFacts, result: JsonObject, waiting: str, untrusted: str) -> None:
    daemon, ledger, session, config = (_part(result, name) for name in ("daemon", "ledger", "session", "config"))
    print_rows(
        [
            (
                "server",
                f"running at {facts.url}, pid {daemon['pid']}, up {daemon['uptime_sec']} s, {daemon['memory_mb']} MB",
            ),
            *addresses(facts),
            ("repository", f"{workspace.root} at {config['head'] or 'no commit'}"),
            ("index", _describe_index(result)),
            *([("contexts", contexts)] if (contexts := _describe_contexts(result)) else []),
            *([("last error", error)] if (error := _describe_error(result) or _logged_error(workspace)) else []),
            ("ledger", f"position {ledger['position']}, {ledger['waiting']} waiting, {ledger['lost']} lost"),
            *([("", str(problem))] if (problem := ledger.get("problem")) else []),
            *([("git", f"still runs for the last server: {left}")] if (left := _git_left(ledger)) else []),
            ("sessions", f"{session['open_sessions']} open"),
            *([("work", work)] if (work := _describe_work(result)) else []),
            *([("schedules", schedules)] if (schedules := _describe_schedules(result)) else []),
            *([("approvals", waiting)] if waiting else []),
            *([("untrusted", untrusted)] if untrusted else []),
            *([("policy", problem)] if (problem := _describe_policy(result)) else []),
            ("settings", ", ".join(map(str, _list(config["config_sources"]))) or "defaults"),
            *([("changed", changed)] if (changed := _describe_settings(config)) else []),
        ]
    )


def _describe_work(result: JsonObject) -> str:
    from codeplane.observe.status import describe_work

    return describe_work(result.get("work"))


def _describe_schedules(result: JsonObject) -> str:
    from codeplane.observe.status import describe_schedules

    return describe_schedules(result.get("schedules"))


def _describe_settings(config: JsonObject) -> str:
    from codeplane.observe.status import describe_changed_settings

    return describe_changed_settings(config)


def _describe_contexts(result: JsonObject) -> str:
    from codeplane.observe.status import describe_contexts

    return describe_contexts(result.get("contexts"))


def _describe_error(result: JsonObject) -> str:
    from codeplane.observe.status import describe_last_error

    return describe_last_error(result.get("daemon"), result.get("index"))


def _describe_policy(result: JsonObject) -> str:
    from codeplane.observe.status import describe_policy_problems

    return describe_policy_problems(result.get("policy"))


def _describe_index(result: JsonObject) -> str:
    from codeplane.observe.status import describe_index

    index = result.get("index")
    return describe_index(index).removeprefix("index ") if isinstance(index, dict) else "not there"


def _paths(workspace: Workspace) -> JsonObject:
    ledger = workspace.ledger
    return {
        "home": str(workspace.home),
        "ledger": str(ledger),
        "ledger_bytes": ledger.stat().st_size if ledger.exists() else 0,
        "log": str(workspace.log),
    }


def _part(result: JsonObject, name: str) -> JsonObject:
    part = result.get(name)
    assert isinstance(part, dict)
    return part


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


class _LogEnd:
    """Follows the log from its current end, across rotations."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = 0
        self._inode: int | None = None
        if path.exists():
            status = path.stat()
            self._place, self._inode = status.st_size, status.st_ino

    def follow(self) -> None:
        """Print lines as they are written, until interrupted."""
        while True:
            print(self._read_new().decode(errors="replace"), end="", flush=True)
            time.sleep(_POLL_SEC)

    def _read_new(self) -> bytes:
        try:
            with self._path.open("rb") as lines:
                status = os.fstat(lines.fileno())
                if status.st_ino != self._inode or status.st_size < self._place:
                    self._place, self._inode = 0, status.st_ino
                lines.seek(self._place)
                text = lines.read()
        except FileNotFoundError:
            return b""
        self._place += len(text)
        return text
