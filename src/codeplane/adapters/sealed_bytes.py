"""Bytes sealed with AES-GCM: unreadable without the key, and refused when they were changed."""

import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from codeplane.kernel.errors import LedgerCorrupt

_NONCE_BYTES = 12


class SealedBytes:
    """Seals and opens bytes with one key; `label` says what they are, and has to be the same to open them."""

    def __init__(self, key: bytes) -> None:
        """`key` has 32 bytes."""
        self._cipher = AESGCM(key)

    def seal(self, data: bytes, label: str) -> bytes:
        """The bytes, sealed."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, data, label.encode())

    def open(self, sealed: bytes, label: str) -> bytes:
        """The bytes that were sealed; LedgerCorrupt when they, the key or the label are others."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], label.encode())
        except (InvalidTag, ValueError) as error:
            raise LedgerCorrupt(f"the payload {label} cannot be opened: it or the server's key was changed") from error
