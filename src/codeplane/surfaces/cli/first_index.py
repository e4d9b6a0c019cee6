"""The first index of a repository, built in this process without a server."""

import sys
import time

from codeplane.kernel.errors import CodePlaneError, ServerRunning
from codeplane.kernel.json import JsonObject
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.discovery import find_server
from codeplane.surfaces.cli.progress import follow, format_seconds

_LATER = "cpl up builds it"


def build_index(workspace: Workspace) -> JsonObject:
    """Build or update the index; return its summary, or why it failed."""
    if find_server(workspace) is not None:
        return {"action": "skipped", "reason": "the running server keeps it"}
    from codeplane.surfaces.cli.embedded_client import EmbeddedClient

    began = time.monotonic()
    print("indexing; no server is left behind, and Ctrl+C leaves the rest to cpl up", file=sys.stderr)
    found: JsonObject = {}

    def ask() -> JsonObject | None:
        nonlocal found
        found = client.index_state()
        return None if found.get("healthy") is False else found

    try:
        with EmbeddedClient.open(workspace, ()) as client:
            is_ready = follow(ask, pause=client.wait, shown=sys.stderr.isatty())
    except ServerRunning:
        return {"action": "skipped", "reason": "another process has the repository, and keeps the index"}
    except CodePlaneError as error:
        return {"action": "failed", "reason": f"{error.message}; {error.hint}"}
    except KeyboardInterrupt:
        return {"action": "skipped", "reason": f"interrupted; {_LATER}"}
    if not is_ready:
        return {"action": "failed", "reason": f"{found.get('state') or 'it takes too long'}; {_LATER}"}
    facts: JsonObject = {name: found[name] for name in ("file_count", "symbol_count", "size_bytes")}
    return {"action": "indexed", "reason": "", "seconds": round(time.monotonic() - began, 1), **facts}


def index_summary(index: JsonObject) -> str:
    """Return the state of the index in one line."""
    if index["action"] != "indexed":
        return f"{index['action']:<9}  index  {index['reason']}"
    files, symbols = (int(str(index[name])) for name in ("file_count", "symbol_count"))
    spent = format_seconds(float(str(index["seconds"])))
    return f"indexed    {plural(files, 'file')}, {plural(symbols, 'symbol')} in {spent}"
