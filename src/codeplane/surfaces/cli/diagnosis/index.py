"""Checks of the index: usable, up to date, and complete."""

import sqlite3
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from codeplane.kernel.json import JsonObject, JsonValue
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import ServerProbe, restart_command

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

_STALE_SEC = 3600
_WATCHES = "sudo sysctl fs.inotify.max_user_watches=1048576 fs.inotify.max_user_instances=1024"


def index(workspace: Workspace, config: "Config", served: ServerProbe | None) -> Check:
    """Check for an index that is missing, damaged, outdated, failing, or not following the disk."""
    if served is None:
        return _check_on_disk(workspace)
    state = served.result_of("status", {"include": ["index", "config"]})
    found, settings = state.get("index"), state.get("config")
    if not isinstance(found, dict):
        return warn("index", "the server has none", "cpl status")
    head = settings.get("head") if isinstance(settings, dict) else None
    return judge_status(found, head=head, watch=config.index.watch, again=restart_command(served.facts))


def judge_status(state: JsonObject, *, head: JsonValue, watch: bool, again: str = "cpl down && cpl up") -> Check:
    """Return the check for the index part of `status`."""
    if not state.get("healthy"):
        return fail("index", f"it cannot be built: {state.get('state')}", "fix the cause; it is tried again")
    if not state.get("version"):
        return warn("index", "the first one is being built", "wait; cpl status shows how far it is")
    summary = f"epoch {state['version']}, {plural(int(str(state['file_count'])), 'file')}"
    symbols = state.get("symbols")
    symbols = symbols if isinstance(symbols, dict) else {}
    if symbols.get("failure"):
        return fail("index", f"symbols: {symbols['failure']}", "cpl call index.rebuild")
    vectors = symbols.get("vectors")
    if isinstance(vectors, dict) and vectors.get("failure"):
        message = f"{summary}; nothing is found by meaning: {vectors['failure']}"
        return warn("index", message, "fix the cause; other modes of search work")
    if not state.get("watching"):
        first = _WATCHES if watch else "set index.watch: true"
        return warn("index", f"{summary}; the disk is not watched: every answer walks it", f"{first}, then {again}")
    if symbols.get("throttled"):
        return warn("index", f"{summary}; one process parses, memory is short", "raise index.memory_mb, or wait")
    skipped = state.get("skipped")
    unreadable = skipped.get("unreadable") if isinstance(skipped, dict) else None
    if unreadable:
        message = f"{summary}; {unreadable} cannot be read"
        return warn("index", message, "cpl call list_dir skipped=true names them; chmod u+r")
    if head != state.get("commit"):
        summary += f", of commit {str(state.get('commit'))[:12]} and not yet {str(head)[:12]}"
    age = time.time() - datetime.fromisoformat(str(state["last_updated"])[:19] + "+00:00").timestamp()
    if age > _STALE_SEC:
        # Nobody asked meanwhile: the next question walks first.
        summary += f", looked at {age / 3600:.1f} h ago"
    return ok("index", summary)


def _check_on_disk(workspace: Workspace) -> Check:
    """Check the index without a server; it is derived data, and rebuilt when it does not fit."""
    from codeplane.code.facts.version import tables_version
    from codeplane.index.store import SCHEMA_VERSION

    if not (workspace.home / "index.db").exists():
        return ok("index", "none yet; cpl up builds it")
    for name, version in (("index.db", SCHEMA_VERSION), ("facts.db", tables_version())):
        if problem := _problem(workspace.home / name, version):
            return warn("index", f"{name}: {problem}", "cpl up makes it again")
    return ok("index", "there, and brought up to date at the start")


def _problem(path: Path, version: int) -> str:
    if not path.is_file():
        return "no plain file" if path.exists() else ""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return f"damaged: {error}"
    if sound != "ok":
        return f"damaged: {sound}"
    return "" if found in (0, version) else f"of another CodePlane (schema {found}, not {version})"


def scip(workspace: Workspace, served: ServerProbe | None) -> Check:
    """Check for SCIP indexes of files that have changed since."""
    if not (workspace.home / "scip.db").exists():
        return ok("scip", "no index was imported")
    if served is None:
        return ok("scip", "not known without a server")
    listed = served.result_of("scip.status").get("indexes")
    indexes = [index for index in listed if isinstance(index, dict)] if isinstance(listed, list) else []
    for index in indexes:
        if int(str(index["holding"])) < int(str(index["documents"])):
            files = plural(int(str(index["documents"])), "file")
            message = f"{index['path']} by {index['tool']} holds for {index['holding']} of {files}"
            fix = f"run the indexer again, then cpl call scip.import path={index['path']}"
            return warn("scip", message, fix)
    return ok("scip", ", ".join(f"{index['path']} by {index['tool']}" for index in indexes) or "no index was imported")
