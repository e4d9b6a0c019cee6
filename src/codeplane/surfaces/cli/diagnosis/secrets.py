"""Checks of tokens, keys and certificates: access and expiry."""

import os
import stat
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from codeplane.kernel.clock import SystemClock
from codeplane.kernel.errors import CodePlaneError
from codeplane.kernel.plural import plural
from codeplane.kernel.workspace import Workspace
from codeplane.surfaces.cli.diagnosis.check import Check, fail, ok, warn
from codeplane.surfaces.cli.diagnosis.server_probe import restart_command
from codeplane.surfaces.cli.discovery import ServerFacts

if TYPE_CHECKING:
    from codeplane.kernel.config import Config

_SOON_DAYS = 30
_NAMED = 5
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Read as the server reads them, which would close others on the way.
_CLOSED = 0o600


def secrets(workspace: Workspace) -> Check:
    """Check for tokens and keys that other accounts can read, and for invalid keys."""
    files = [workspace.owner_token, workspace.server_key, workspace.agent_keys]
    if workspace.tls.is_dir():
        files += [path for path in sorted(workspace.tls.iterdir()) if "key" in path.name]
    there = [path for path in files if path.exists()]
    open_ones = [path for path in there if stat.S_IMODE(path.stat().st_mode) & _OTHERS]
    if open_ones:
        message = ", ".join(f"{path.name} is {stat.S_IMODE(path.stat().st_mode):o}" for path in open_ones)
        return fail("secrets", f"others may read: {message}", f"chmod 600 {' '.join(map(str, open_ones))}")
    foreign = [path for path in there if path.stat().st_uid != os.getuid()]
    if foreign:
        message = ", ".join(path.name for path in foreign)
        return fail("secrets", f"another user owns {message}", f"chown {os.getuid()} {' '.join(map(str, foreign))}")
    closed = [path for path in there if stat.S_IMODE(path.stat().st_mode) == _CLOSED]
    return _unreadable(closed, workspace) or ok(
        "secrets", f"{plural(len(there), 'file')}, yours alone" if there else "none yet"
    )


def _unreadable(closed: Sequence[Path], workspace: Workspace) -> Check | None:
    """Return the problem of a file without a valid key or token."""
    from codeplane.trust.identity import is_token_missing
    from codeplane.trust.identity.server_key import ServerKey
    from codeplane.trust.identity.signing_keys import SigningKeys

    try:
        if workspace.server_key in closed:
            ServerKey.read(workspace.server_key)
        if workspace.agent_keys in closed:
            SigningKeys(workspace.agent_keys, clock=SystemClock())
    except CodePlaneError as error:
        return fail("secrets", error.message, error.hint)
    if is_token_missing(workspace.owner_token):
        return warn(
            "secrets", f"{workspace.owner_token} holds no token", "a start makes a new one: cpl down; cpl up -d"
        )
    return None


def certificate(workspace: Workspace, config: "Config", facts: ServerFacts | None) -> Check:
    """Check for a TLS certificate that expires soon, has expired, or does not match its key."""
    server = config.server
    if server.tls == "off":
        return ok("tls", "off; only this machine is served")
    own = server.tls == "self_signed"
    path = workspace.tls / "certificate.pem" if own else workspace.root / server.tls_certificate
    renew = f"{restart_command(facts)} makes a new one" if own else f"renew it, then {restart_command(facts)}"
    try:
        from cryptography import x509

        certificate_file = x509.load_pem_x509_certificate(path.read_bytes())
    except FileNotFoundError:
        if own:
            return ok("tls", "none yet; it is made at the start")
        return fail("tls", f"{path} is not there", "set server.tls_certificate to where it is")
    except (OSError, ValueError) as error:
        return fail("tls", f"{path} cannot be used: {error}", renew)
    days = (certificate_file.not_valid_after_utc - datetime.now(UTC)).days
    ends = f"{certificate_file.not_valid_after_utc:%Y-%m-%d}"
    if days < 0:
        return fail("tls", f"the certificate expired {ends}", renew)
    if not own and (problem := _unfit(workspace, config)):
        return fail("tls", problem, "set server.tls_key and server.tls_client_ca to files that fit")
    # Our own certificate is renewed at the next start.
    if days < _SOON_DAYS and (not own or facts is not None):
        return warn("tls", f"the certificate ends {ends}, in {days} days", renew)
    return ok("tls", f"the certificate is good until {ends}")


def _unfit(workspace: Workspace, config: "Config") -> str:
    """Return why the server could not start with these files; empty when it could."""
    from codeplane.adapters.certificates import load_tls

    try:
        tls = load_tls(config.server, folder=workspace.tls, now_ns=time.time_ns(), root=workspace.root)
        if tls is not None:
            tls.context()
    except CodePlaneError as error:
        return error.message
    return ""


def recovery(workspace: Workspace) -> Check:
    """Check for recovery refs of earlier versions that hold secrets files."""
    from codeplane.git.safety.recovery_secrets import find_recovery_secrets, git_asker

    if not (workspace.root / ".git").exists():
        return ok("recovery", "no git here")
    held = find_recovery_secrets(workspace.root, git_asker(workspace.root))
    if not held:
        return ok("recovery", "no recovery ref holds a secrets file")
    some = [f"{ref} ({', '.join(sorted(files)[:_NAMED])})" for ref, files in list(held.items())[:_NAMED]]
    more = f" and {len(held) - _NAMED} more" if len(held) > _NAMED else ""
    fix = "cpl down; cpl up -d takes them out, and undo still has them; then: git gc --prune=now"
    return warn("recovery", f"sandboxes can read secrets files in {'; '.join(some)}{more}", fix)


def redaction(workspace: Workspace, config: "Config") -> Check:
    """Check for secrets files with more values than can be redacted."""
    from codeplane.adapters.secret_files import EMPTY, SecretFiles
    from codeplane.kernel.secret_paths import SecretRules

    rules = SecretRules(config.index.secrets)
    files = SecretFiles(serving=workspace.root, rules=rules, empty=workspace.home / EMPTY)
    files.walk()
    files.matcher()
    if surplus := files.surplus:
        message = f"too many values to leave all of them out of answers: {', '.join(surplus)}"
        return warn(
            "redaction", message, "delete those that are not yours, or keep large ones outside of the repository"
        )
    return ok("redaction", "the values of all secrets files are left out of answers to agents")
