"""What can be wrong with a repository's CodePlane before anybody notices: rules, tokens, certificates, ports, index."""

import os
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.json import JsonObject
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.client import Client
from codeplane.surfaces.cli.discovery import ServerFacts, not_ready

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

_SOON_DAYS = 30
_POLICY_SEC = 15.0
_STALE_SEC = 3600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    verdict: Literal["ok", "warn", "fail"]
    found: str
    fix: str = ""


def diagnosed(workspace: Workspace, config: "Config", facts: ServerFacts | None) -> Iterator[Check]:
    """What is looked at once the settings can be read; nothing is written."""
    yield names(config, workspace, facts)
    yield policy(workspace, config, facts)
    yield secrets(workspace)
    yield certificate(workspace, config, facts)
    yield ports(config, facts)
    yield index(workspace, facts)


def names(config: "Config", workspace: Workspace, facts: ServerFacts | None) -> Check:
    """Settings that name operations which are not there: a gate that was meant to open stays shut."""
    if not config.trust.allow:
        return Check(name="names", verdict="ok", found="no operation is named in trust.allow")
    known = _operations(workspace, facts)
    for name in config.trust.allow:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"write {near[0]} instead" if near else "cpl call lists the operations"
            return Check(name="names", verdict="fail", found=f"trust.allow names {name!r}, no operation", fix=advice)
    return Check(name="names", verdict="ok", found=f"trust.allow names {len(config.trust.allow)} operations")


def policy(workspace: Workspace, config: "Config", facts: ServerFacts | None = None) -> Check:
    """Rules of the owner's own that cannot be used: a server keeps the last that could, without one only reads run."""
    try:
        files = sorted(path.name for path in workspace.policy.iterdir() if path.suffix == ".rego")
    except FileNotFoundError:
        files = []
    except OSError as error:
        return Check(
            name="policy", verdict="fail", found=f"{workspace.policy}: {error.strerror}", fix="cpl policy check"
        )
    if not files:
        return Check(name="policy", verdict="ok", found="the shipped rules alone")
    if facts is not None and (found := _served_policy(workspace, facts)) is not None:
        return found
    # Slow to import, and only needed here.
    from codeplane.adapters.rego import Rego
    from codeplane.kernel.clock import SystemClock
    from codeplane.trust.policy.policy import Policy

    engine = Rego(timeout_ms=config.policy.timeout_ms)
    rules = Policy(folder=workspace.policy, engine=engine, config=config.policy, clock=SystemClock())
    try:
        rules.settle(_POLICY_SEC)
        if problems := rules.problems():
            return Check(name="policy", verdict="fail", found="; ".join(problems), fix="mend it; cpl policy check")
    finally:
        rules.close()
    return Check(name="policy", verdict="ok", found=f"{len(files)} of your own: {', '.join(files[:5])}")


def _served_policy(workspace: Workspace, facts: ServerFacts) -> Check | None:
    """What the server says: of the folder as it is, and of what is in force; None when it says nothing."""
    try:
        client = Client(workspace, facts)
        checked, summary = (client.call(name, {}).get("result") for name in ("policy.check", "policy.summary"))
    except CodePlaneError:
        return None
    if not isinstance(checked, dict) or not isinstance(summary, dict):
        return None
    if checked.get("usable"):
        files = [str(file).rpartition("/")[2] for file in _list(checked.get("files"))]
        return Check(name="policy", verdict="ok", found=f"{len(files)} of your own: {', '.join(files[:5])}")
    problems = [one for one in _list(checked.get("problems")) if isinstance(one, dict)]
    said = "; ".join(f"{one.get('file') or 'policy'}:{one.get('line')}: {one.get('message')}" for one in problems)
    kept = f"version {str(summary.get('version'))[:12]} stays in force"
    instead = "only reads run" if summary.get("only_reads") else kept
    return Check(
        name="policy", verdict="fail", found=f"it cannot be used: {said}; {instead}", fix="mend it; cpl policy check"
    )


def secrets(workspace: Workspace) -> Check:
    """Tokens and keys that others on this machine could read."""
    files = [workspace.owner_token, workspace.server_key, workspace.agent_keys]
    if workspace.tls.is_dir():
        files += [path for path in sorted(workspace.tls.iterdir()) if "key" in path.name]
    there = [path for path in files if path.exists()]
    open_ones = [path for path in there if stat.S_IMODE(path.stat().st_mode) & _OTHERS]
    if open_ones:
        said = ", ".join(f"{path.name} is {stat.S_IMODE(path.stat().st_mode):o}" for path in open_ones)
        fix = f"chmod 600 {' '.join(str(path) for path in open_ones)}"
        return Check(name="secrets", verdict="fail", found=f"others may read: {said}", fix=fix)
    foreign = [path for path in there if path.stat().st_uid != os.getuid()]
    if foreign:
        said = ", ".join(path.name for path in foreign)
        return Check(name="secrets", verdict="fail", found=f"somebody else owns {said}", fix="chown them to you")
    return Check(name="secrets", verdict="ok", found=f"{len(there)} files, yours alone" if there else "none yet")


def certificate(workspace: Workspace, config: "Config", facts: ServerFacts | None) -> Check:
    """A TLS certificate that ends soon, or has ended."""
    server = config.server
    if server.tls == "off":
        return Check(name="tls", verdict="ok", found="off; only this machine is served")
    own = server.tls == "self_signed"
    path = workspace.tls / "certificate.pem" if own else workspace.root / server.tls_certificate
    renew = "cpl down && cpl up makes a new one" if own else "renew it, then cpl down && cpl up"
    try:
        from cryptography import x509

        found = x509.load_pem_x509_certificate(path.read_bytes())
    except FileNotFoundError:
        said = "none yet; it is made at the start" if own else f"{path} is not there"
        return Check(
            name="tls", verdict="ok" if own else "fail", found=said, fix="" if own else "server.tls_certificate"
        )
    except (OSError, ValueError) as error:
        return Check(name="tls", verdict="fail", found=f"{path} cannot be used: {error}", fix=renew)
    days = (found.not_valid_after_utc - datetime.now(UTC)).days
    ends = f"{found.not_valid_after_utc:%Y-%m-%d}"
    if days < 0:
        return Check(name="tls", verdict="fail", found=f"the certificate ended {ends}", fix=renew)
    # One of ours is renewed at the next start by itself.
    if days < _SOON_DAYS and (not own or facts is not None):
        return Check(name="tls", verdict="warn", found=f"the certificate ends {ends}, in {days} days", fix=renew)
    return Check(name="tls", verdict="ok", found=f"the certificate is good until {ends}")


def ports(config: "Config", facts: ServerFacts | None) -> Check:
    """An address that may not be served, and ports that somebody else has."""
    # Slow to import.
    from codeplane.kernel.binding import may_bind

    try:
        may_bind(config.server)
    except CodePlaneError as error:
        return Check(name="ports", verdict="fail", found=error.message, fix=error.hint)
    if facts is not None:
        return Check(name="ports", verdict="ok", found=f"the server has {facts.port}")
    asked = {
        "server.port": config.server.port,
        "server.tls_port": config.server.tls_port if config.server.tls != "off" else 0,
        "grpc.port": config.grpc.port if config.grpc.enabled else 0,
    }
    for setting, port in asked.items():
        if port and not _is_free(config.server.host, port):
            return Check(
                name="ports", verdict="fail", found=f"{setting} {port} is taken", fix=f"choose another {setting}, or 0"
            )
    return Check(name="ports", verdict="ok", found="free" if any(asked.values()) else "any that is free")


def index(workspace: Workspace, facts: ServerFacts | None) -> Check:
    """An index that is not there yet, fails, or has not been looked at for long."""
    if facts is None:
        there = (workspace.home / "index.db").exists()
        said = "there, and brought up to date at the start" if there else "none yet; cpl up builds it"
        return Check(name="index", verdict="ok", found=said)
    try:
        result = Client(workspace, facts).call("status", {"include": ["index", "config"]}).get("result")
    except CodePlaneError as error:
        return Check(name="index", verdict="fail", found=error.message, fix=error.hint)
    state = result.get("index") if isinstance(result, dict) else None
    if not isinstance(state, dict):
        return Check(name="index", verdict="warn", found=not_ready(facts) or "not known", fix="cpl status")
    return _judged(state)


def _judged(state: JsonObject) -> Check:
    if not state.get("healthy"):
        return Check(name="index", verdict="fail", found=str(state.get("state")), fix="cpl status -v; free disk space?")
    if not state.get("version"):
        return Check(name="index", verdict="warn", found="the first one is being built", fix="wait; cpl status")
    said = f"epoch {state['version']}, {state['file_count']} files"
    at = datetime.fromisoformat(str(state["last_updated"])[:19] + "+00:00").timestamp()
    age = time.time() - at
    if not state.get("watching"):
        fix = "index.watch is off, or the system's limit of watched folders is used up"
        return Check(name="index", verdict="warn", found=f"{said}; the disk is not watched", fix=fix)
    if age > _STALE_SEC:
        # Nobody asked meanwhile: the next question walks first.
        said += f", looked at {age / 3600:.1f} h ago"
    symbols = state.get("symbols")
    if isinstance(symbols, dict) and symbols.get("failure"):
        return Check(name="index", verdict="fail", found=f"symbols: {symbols['failure']}", fix="cpl call index.rebuild")
    vectors = symbols.get("vectors") if isinstance(symbols, dict) else None
    if isinstance(vectors, dict) and vectors.get("failure"):
        found = f"{said}; nothing is found by meaning: {vectors['failure']}"
        return Check(
            name="index", verdict="warn", found=found, fix="mend what is said there; other modes of search work"
        )
    return Check(name="index", verdict="ok", found=said)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError:
            return False
    return True


def _operations(workspace: Workspace, facts: ServerFacts | None) -> set[str]:
    if facts is not None:
        result = Client(workspace, facts).call("operation.list", {}).get("result")
        listed = result.get("operations") if isinstance(result, dict) else None
        return {str(one["name"]) for one in listed if isinstance(one, dict)} if isinstance(listed, list) else set()

    # Slow to import, and rarely needed.
    import asyncio

    from codeplane.app import configuration, running

    async def catalogue() -> set[str]:
        with tempfile.TemporaryDirectory() as folder:
            elsewhere = Workspace(root=Path(folder))
            loaded = configuration(elsewhere, (), {}).without_terminal()
            async with running(elsewhere, loaded=loaded) as plane:
                return {found.name for found in plane.conveyor.catalogue}

    return asyncio.run(catalogue())
