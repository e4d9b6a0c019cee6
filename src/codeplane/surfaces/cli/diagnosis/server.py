"""Checks of the server and its ports."""

import json
import socket
from typing import TYPE_CHECKING

from codeplane import __version__
from codeplane.kernel.errors import CodePlaneError, LedgerCorrupt, StorageFull, Unauthorized
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import MISPLACED, ServerProbe, restart_command, salvage_command
from codeplane.surfaces.cli.discovery import ServerFacts, not_ready

if TYPE_CHECKING:
    from codeplane.kernel.config import Config


def server(workspace: Workspace, served: ServerProbe | None) -> Check:
    """Check for a server that is missing, hangs, has another version, rejects its owner, or cannot record."""
    if served is None:
        return _absent(workspace)
    facts = served.facts
    try:
        served.result_of("status", {"include": ["daemon"]})
    except CodePlaneError as error:
        return fail("server", f"pid {facts.pid} at {facts.url}: {error.message}", _fix_for_error(error, facts))
    problems = [
        problem for problem in (not_ready(facts) or "").split("; ") if problem and "INDEX_NOT_READY" not in problem
    ]
    if problems:
        return fail("server", f"not ready: {'; '.join(problems)}", _fix_for(problems[0], facts))
    if facts.version != __version__:
        return warn("server", f"runs {facts.version}, this is {__version__}", restart_command(facts))
    return ok("server", f"{facts.url}, pid {facts.pid}")


def holder(workspace: Workspace) -> int | None:
    """Return the process that holds the repository although no server answers; 0 if unknown."""
    from codeplane.adapters.file_lock import lock_holder

    return lock_holder(workspace.lock)


def ports(config: "Config", *, served: ServerProbe | None) -> Check:
    """Check for an address that may not be served, and for ports in use."""
    # Slow to import.
    from codeplane.kernel.binding import may_bind

    try:
        may_bind(config.server)
    except CodePlaneError as error:
        return fail("ports", error.message, error.hint)
    if served is not None:
        return ok("ports", f"the server has {served.facts.port}")
    asked = {
        "server.port": config.server.port,
        "server.tls_port": config.server.tls_port if config.server.tls != "off" else 0,
        "grpc.port": config.grpc.port if config.grpc.enabled else 0,
    }
    for setting, port in asked.items():
        if port and not _is_free(config.server.host, port):
            return fail("ports", f"{setting} {port} is taken", f"cpl up --set {setting}=0 takes any that is free")
    return ok("ports", "free" if any(asked.values()) else "any that is free")


def _absent(workspace: Workspace) -> Check:
    pid = holder(workspace)
    if pid is None:
        return warn("server", f"not running{_leftovers(workspace)}", "cpl up")
    which = f"pid {pid}" if pid else "another process"
    return warn(
        "server",
        f"{which} has this repository and does not answer: it starts, ends, or hangs",
        f"wait a minute; then kill -9 {pid or 'it'}: nothing acknowledged is lost",
    )


def _leftovers(workspace: Workspace) -> str:
    """Return what a killed server left behind; the next start removes it."""
    if not workspace.server.is_file():
        return ""
    try:
        pid = int(json.loads(workspace.server.read_bytes())["pid"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return f"; the last one (pid {pid}) ended without shutting down"


def _fix_for_error(error: CodePlaneError, facts: ServerFacts) -> str:
    # A server takes the token from the file, or makes one there, when it starts.
    if isinstance(error, Unauthorized):
        return restart_command(facts)
    return f"cpl down, or kill -9 {facts.pid} when it hangs; then cpl up"


def _fix_for(problem: str, facts: ServerFacts) -> str:
    ways = {
        StorageFull.name: "free some space; it goes on by itself",
        LedgerCorrupt.name: salvage_command(facts),
        MISPLACED: restart_command(facts),
    }
    return next((way for symptom, way in ways.items() if symptom in problem), "cpl status -v")


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError:
            return False
    return True
