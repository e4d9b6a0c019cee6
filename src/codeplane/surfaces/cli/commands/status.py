"""`cpl status`: one view of what runs here."""

import time
from typing import Annotated

import typer

from codeplane.kernel.json import JsonObject, dumps
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.output import (
    EXIT_NO_SERVER,
    JsonOption,
    RepoOption,
    block,
    failing_clearly,
    result_of,
    workspace_of,
)

_LINES = 50
_POLL_SEC = 0.2


@failing_clearly
def status(
    repo: RepoOption = None,
    as_json: JsonOption = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also the last 50 lines of the log.")] = False,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing the server's log.")] = False,
) -> None:
    """Show whether the server runs, for which repository and commit, and how it is; exit code 3 when it does not."""
    workspace = workspace_of(repo)
    facts = find_server(workspace)
    result = result_of(Client(workspace, facts).call("status", {}), as_json=as_json) if facts is not None else None
    lines = _last_lines(workspace) if verbose else None
    if as_json:
        state: JsonObject = {"running": False, "repo": str(workspace.root)}
        if facts is not None and result is not None:
            state = {"running": True, "url": facts.url, **result}
        print(dumps({**state, "paths": _paths(workspace), **({"log": lines} if lines is not None else {})}))
    else:
        if facts is not None and result is not None:
            _show_running(workspace, facts.url, result)
        else:
            block([("server", "not running; start it: cpl up"), ("repository", str(workspace.root))])
        print("\n".join(lines or ()), end="\n" if lines else "")
    if follow:
        _follow(workspace)
    if facts is None:
        raise typer.Exit(EXIT_NO_SERVER)


def _last_lines(workspace: Workspace) -> list[str]:
    from codeplane.observe.log_tail import tail

    return tail(workspace.log, _LINES)


def _show_running(workspace: Workspace, url: str, result: JsonObject) -> None:
    daemon, ledger, session, config = (_part(result, name) for name in ("daemon", "ledger", "session", "config"))
    unavailable = result.get("unavailable")
    block(
        [
            ("server", f"running at {url}, pid {daemon['pid']}, up {daemon['uptime_sec']} s, {daemon['memory_mb']} MB"),
            ("repository", f"{workspace.root} at {config['head'] or 'no commit'}"),
            ("ledger", f"position {ledger['position']}, {ledger['waiting']} waiting, {ledger['lost']} lost"),
            ("sessions", f"{session['open_sessions']} open"),
            ("settings", ", ".join(map(str, _list(config["config_sources"]))) or "defaults"),
            ("missing", ", ".join(map(str, _list(unavailable))) or "nothing"),
        ]
    )


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


def _follow(workspace: Workspace) -> None:
    """Print lines as they are written, across rotations, until interrupted."""
    path, place, inode = workspace.log, workspace.log.stat().st_size if workspace.log.exists() else 0, -1
    while True:
        if path.exists():
            found = path.stat()
            if inode not in (-1, found.st_ino) or found.st_size < place:
                place = 0
            inode = found.st_ino
            with path.open("rb") as lines:
                lines.seek(place)
                text = lines.read()
                place += len(text)
            print(text.decode(errors="replace"), end="", flush=True)
        time.sleep(_POLL_SEC)
