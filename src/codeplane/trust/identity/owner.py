"""The owner's token, in a file that only the owner can read."""

import hmac
import secrets
from pathlib import Path

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.errors import StorageReadOnly

OWNER = Actor(kind=ActorKind.OWNER, actor_id="owner")
# The redactor recognises tokens by this prefix.
OWNER_PREFIX = "cpl_"
_SHORTEST = 32


def owner_token(path: Path) -> str:
    """The owner's token, created at the first start in a file that only the owner can read.

    A file that holds no token is replaced.
    """
    try:
        token = _read(path)
        if len(token) >= _SHORTEST:
            path.chmod(0o600)
            return token
        token = OWNER_PREFIX + secrets.token_urlsafe(32)
        path.unlink(missing_ok=True)
        path.touch(mode=0o600, exist_ok=False)
        path.write_text(token + "\n")
    except OSError as error:
        raise StorageReadOnly(f"{path} cannot be written: {error.strerror}") from error
    return token


def is_token_missing(path: Path) -> bool:
    """Whether the owner's token file exists without a token in it; a start replaces it."""
    try:
        return path.exists() and len(_read(path)) < _SHORTEST
    except OSError:
        return False


def _read(path: Path) -> str:
    """The token in the file, or an empty string."""
    try:
        token = path.read_text("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
    return token if token.isprintable() and " " not in token else ""


def is_owner_token(token: str, owners: bytes) -> bool:
    """Whether a token is the owner's, compared in constant time."""
    return hmac.compare_digest(token.encode("utf-8", "replace"), owners)
