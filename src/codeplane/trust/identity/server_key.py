"""The server's secret key, with which tokens and codes are sealed before they are stored."""

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

from codeplane.kernel.errors import StorageFailed
from codeplane.trust.identity.secret_file import read_secret, write_secret

_BYTES = 32


class ServerKey:
    """Seals tokens and codes: equal for equal text, and not reversible."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def derive(self, purpose: str) -> bytes:
        """A key of 32 bytes for one purpose."""
        return hmac.new(self._key, f"derived:{purpose}".encode(), sha256).digest()

    @classmethod
    def at(cls, path: Path) -> "ServerKey":
        """The key in the file, created when there is none; a file without a key is an error."""
        key = cls.read(path)
        if key is None:
            secret = secrets.token_bytes(_BYTES)
            write_secret(path, secret.hex().encode() + b"\n")
            return cls(secret)
        return key

    @classmethod
    def read(cls, path: Path) -> "ServerKey | None":
        """The key in the file, or None when there is no file."""
        content = read_secret(path)
        if content is None:
            return None
        try:
            key = bytes.fromhex(content.decode("ascii").strip())
        except ValueError:
            key = b""
        if len(key) != _BYTES:
            raise StorageFailed(
                f"{path} holds no key",
                hint=f"mv {path} {path}.broken, then start again; every device then has to be paired again",
            )
        return cls(key)

    def seal(self, purpose: str, text: str) -> str:
        """The text's HMAC-SHA256 for one purpose; seals for different purposes differ."""
        message = f"{purpose}\0{text}".encode("utf-8", "backslashreplace")
        return hmac.new(self._key, message, sha256).hexdigest()
