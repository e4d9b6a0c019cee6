"""Who is calling: the owner by token, agents over loopback MCP for the owner, nobody else."""

import hmac
import secrets
from pathlib import Path

from codeplane.kernel.actor import Actor, ActorKind, Caller
from codeplane.kernel.errors import StorageReadOnly, Unauthorized

OWNER = Actor(kind=ActorKind.OWNER, actor_id="owner")
EMBEDDED = "embedded"
_AGENT_SURFACES = frozenset({"mcp"})
_PUBLIC_SURFACES = frozenset({"rest"})
_SHORTEST = 32


def owner_token(path: Path) -> str:
    """The owner's token, made at the first start in a file that only the owner can read."""
    try:
        token = _read(path)
        if len(token) >= _SHORTEST:
            path.chmod(0o600)
            return token
        token = secrets.token_urlsafe(32)
        path.unlink(missing_ok=True)
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(token + "\n")
    except OSError as error:
        raise StorageReadOnly(f"{path} cannot be written: {error.strerror}") from error
    return token


def _read(path: Path) -> str:
    """The token in the file, or nothing when there is no file or no token in it."""
    try:
        token = path.read_text("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
    return token if token.isprintable() and " " not in token else ""


class LocalIdentity:
    """Tells callers on this machine apart by token and surface."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    def identify(self, caller: Caller) -> Actor:
        """The owner for the right token; an agent for an MCP client, token or not; Unauthorized otherwise."""
        known = caller.token is not None and hmac.compare_digest(caller.token.encode("utf-8", "replace"), self._token)
        if caller.token is not None and not known:
            raise Unauthorized("the token is not the owner's")
        if caller.surface in _AGENT_SURFACES:
            # Whatever it holds, a model is behind it: no agent approves its own action.
            return Actor(kind=ActorKind.AGENT, actor_id=caller.client or "anonymous")
        if known or caller.surface == EMBEDDED:
            return OWNER
        if caller.surface in _PUBLIC_SURFACES:
            return Actor(kind=ActorKind.SYSTEM, actor_id="probe")
        raise Unauthorized(f"calls over {caller.surface} need a token")
