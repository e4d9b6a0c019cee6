"""The server's own secret, with which what others hold is sealed before it is kept."""

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

from codeplane.kernel.errors import StorageFailed
from codeplane.trust.identity.secret_file import read_secret, write_secret

_BYTES = 32


class ServerKey:
    """Turns tokens and codes into seals: equal for the same text, useless for finding the text."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def at(cls, path: Path) -> "ServerKey":
        """The key in the file, made when there is none; a file that holds no key is not replaced in silence."""
        found = cls.read(path)
        if found is None:
            key = secrets.token_bytes(_BYTES)
            write_secret(path, key.hex().encode() + b"\n")
            return cls(key)
        return found

    @classmethod
    def read(cls, path: Path) -> "ServerKey | None":
        """The key in the file, or None when there is no file."""
        held = read_secret(path)
        if held is None:
            return None
        try:
            key = bytes.fromhex(held.decode("ascii").strip())
        except ValueError:
            key = b""
        if len(key) != _BYTES:
            raise StorageFailed(
                f"{path} holds no key",
                hint=f"mv {path} {path}.broken, then start again; every device then has to be paired anew",
            )
        return cls(key)

    def seal(self, purpose: str, text: str) -> str:
        """The text's HMAC-SHA256 for one purpose; a seal for another purpose never equals it."""
        message = f"{purpose}\0{text}".encode("utf-8", "backslashreplace")
        return hmac.new(self._key, message, sha256).hexdigest()
