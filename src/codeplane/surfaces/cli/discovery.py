"""Finding a repository's workspace and its server; standard library only, to keep the shim fast."""

import json
import os
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from codeplane.kernel.errors import WorkspaceNotFound
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace

_PROBE_TIMEOUT_SEC = 5.0
_LONGEST_ANSWER = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """The address and process of a workspace's server."""

    pid: int
    host: str
    port: int
    url: str
    version: str
    detached: bool
    started_at: str
    grpc_address: str = ""
    tls_url: str = ""
    tls_fingerprint: str = ""
    instance: str = ""
    repo: str = ""


def find_workspace(start: Path, *, explicit: bool) -> Workspace:
    """Return the workspace that contains a folder; an explicitly named folder needs no git."""
    try:
        start = start.expanduser().resolve()
        root = _find_root(start, explicit=explicit)
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkspaceNotFound(f"{str(start)!r} cannot be used: {error}") from error
    try:
        str(root).encode()
    except UnicodeEncodeError:
        # Neither JSON nor any client could say its name.
        raise WorkspaceNotFound(f"{str(root)!r} is not a UTF-8 name", hint="rename the folder") from None
    return Workspace(root=root)


def _find_root(start: Path, *, explicit: bool) -> Path:
    if not start.is_dir():
        raise WorkspaceNotFound(f"{start} is not a folder")
    for folder in (start, *start.parents):
        if (folder / ".codeplane" / "repo_id").is_file() or _is_git(folder / ".git"):
            return folder
    if explicit:
        return start
    raise WorkspaceNotFound(
        f"{start} is not inside a git repository", hint="to use this folder as it is: cpl up --repo ."
    )


def _is_git(place: Path) -> bool:
    """Whether this is git's folder or leads to it; git-lfs, installed outside of repositories, leaves a `.git` too."""
    return place.is_file() or os.path.lexists(place / "HEAD")


def facts_from_json(wire: JsonObject) -> ServerFacts:
    """Return the facts as a server writes them to its file."""
    return ServerFacts(
        pid=int(str(wire["pid"])),
        host=str(wire["host"]),
        port=int(str(wire["port"])),
        url=str(wire["url"]),
        version=str(wire["version"]),
        detached=bool(wire["detached"]),
        started_at=str(wire["started_at"]),
        grpc_address=str(wire.get("grpc_address") or ""),
        tls_url=str(wire.get("tls_url") or ""),
        tls_fingerprint=str(wire.get("tls_fingerprint") or ""),
        instance=str(wire.get("instance") or ""),
        repo=str(wire.get("repo") or ""),
    )


def addresses(facts: ServerFacts) -> list[tuple[str, str]]:
    """Return a server's further addresses as (name, text) rows for people."""
    tls = f"{facts.tls_url} (for other machines too)" if facts.tls_url else ""
    rows = [("gRPC", facts.grpc_address), ("TLS", tls), ("fingerprint", facts.tls_fingerprint)]
    return [(name, text) for name, text in rows if text]


def addresses_to_json(facts: ServerFacts) -> JsonObject:
    """Return a server's further addresses as JSON."""
    named = {
        "grpc_address": facts.grpc_address,
        "tls_url": facts.tls_url,
        "tls_fingerprint": facts.tls_fingerprint,
    }
    return {name: address for name, address in named.items() if address}


def find_server(workspace: Workspace, *, even_ending: bool = False) -> ServerFacts | None:
    """Return the server that answers for the workspace, or None; one that is ending does not count."""
    # Opening anything else could block.
    if not workspace.server.is_file():
        return None
    try:
        facts = facts_from_json(json.loads(workspace.server.read_text()))
        status, health = _probe(facts, "/health")
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError, HTTPException):
        return None
    # The file may be old or copied with the repository, and another program may have the port now:
    # what answers has to be the very server that wrote it, for the repository that it lies in.
    same = (health.get("instance"), health.get("pid"), facts.repo) == (facts.instance, facts.pid, str(workspace.root))
    if status != 200 or not facts.instance or not same:
        return None
    return facts if even_ending or health.get("status") == "ok" else None


def not_ready(facts: ServerFacts) -> str | None:
    """Return why a server is not ready yet, or None when it is."""
    try:
        status, answer = _probe(facts, "/ready")
    except (OSError, ValueError, HTTPException) as error:
        return str(error)
    problems = answer.get("problems")
    return None if status == 200 else "; ".join(map(str, problems)) if isinstance(problems, list) else "not ready"


def _probe(facts: ServerFacts, path: str) -> tuple[int, JsonObject]:
    if not (facts.host.startswith("127.") or facts.host == "::1"):
        raise ValueError("a server is never on another machine")
    connection = HTTPConnection(facts.host, facts.port, timeout=_PROBE_TIMEOUT_SEC)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        answer = json.loads(response.read(_LONGEST_ANSWER))
        return response.status, answer if isinstance(answer, dict) else {}
    finally:
        connection.close()
