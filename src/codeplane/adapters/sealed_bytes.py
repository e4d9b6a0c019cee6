"""Bytes sealed with AES-GCM: unreadable without the key, and refused when they were changed."""

import os
from contextlib import suppress

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from codeplane.kernel.errors import LedgerCorrupt

_NONCE_BYTES = 12


class SealedBytes:
    """Seals bytes with a key, and opens them; `label` says what they are, and has to be the same to open them."""

    def __init__(self, key: bytes, *older: bytes) -> None:
        """Keys of 32 bytes; what was sealed with `older` ones is opened, too."""
        self._cipher, *self._older = (AESGCM(each) for each in (key, *older))

    def seal(self, data: bytes, label: str) -> bytes:
        """The bytes, sealed."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, data, label.encode())

    def open(self, sealed: bytes, label: str) -> bytes:
        """The bytes that were sealed; LedgerCorrupt when they, the key or the label are others."""
        for cipher in (self._cipher, *self._older):
            with suppress(InvalidTag, ValueError):
                return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], label.encode())
        raise LedgerCorrupt(f"the payload {label} cannot be opened: it or the server's key was changed")
