"""The owner: whoever can read the token in a file that only the owner can read."""

import hmac
import secrets
from pathlib import Path

from codeplane.kernel.actor import Actor, ActorKind
from codeplane.kernel.errors import StorageReadOnly

OWNER = Actor(kind=ActorKind.OWNER, actor_id="owner")
# Known to whatever takes secrets out of texts.
OWNER_PREFIX = "cpl_"
_SHORTEST = 32


def owner_token(path: Path) -> str:
    """The owner's token, made at the first start in a file that only the owner can read.

    A file that holds no token is replaced: whatever is in it opens nothing.
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


def holds_no_token(path: Path) -> bool:
    """Whether there is a file for the owner's token with none in it, which a start replaces."""
    try:
        return path.exists() and len(_read(path)) < _SHORTEST
    except OSError:
        return False


def _read(path: Path) -> str:
    """The token in the file, or nothing when there is no file or no token in it."""
    try:
        token = path.read_text("ascii").strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return ""
    return token if token.isprintable() and " " not in token else ""


def is_owners(token: str, owners: bytes) -> bool:
    """Whether a token is the owner's, in a time that tells nothing about how much of it is right."""
    return hmac.compare_digest(token.encode("utf-8", "replace"), owners)
