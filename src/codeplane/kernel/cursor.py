"""Opaque continuation tokens: signed, bound to one operation and its arguments, short-lived."""

import base64
import hmac
import json
import os
from hashlib import sha256

from codeplane.kernel.clock import SECOND_NS, Clock
from codeplane.kernel.errors import CursorExpired, CursorInvalid
from codeplane.kernel.json import JsonObject, canonical

LIFETIME_SEC = 3600
_MAC_BYTES = 16


class Cursors:
    """Hands out cursors and takes them back; they do not outlive the server that made them."""

    def __init__(self, *, clock: Clock, secret: bytes | None = None) -> None:
        self._clock = clock
        self._secret = secret or os.urandom(32)

    def issue(self, *, scope: str, state: JsonObject) -> str:
        """A token from which `open` gives the state back, for the same scope alone."""
        born = self._clock.monotonic_ns() // SECOND_NS
        body = canonical({"b": born, "s": state})
        return base64.urlsafe_b64encode(self._mac(scope, body) + body).rstrip(b"=").decode()

    def open(self, token: str, *, scope: str) -> JsonObject:
        """The state of a cursor that was issued for this scope within its lifetime."""
        try:
            raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        except ValueError as error:
            raise CursorInvalid("this is not a cursor") from error
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(scope, body)):
            raise CursorInvalid("this cursor was not issued by this server for this operation, arguments and session")
        content = json.loads(body)
        if self._clock.monotonic_ns() // SECOND_NS - content["b"] > LIFETIME_SEC:
            raise CursorExpired("this cursor is more than an hour old")
        state: JsonObject = content["s"]
        return state

    def _mac(self, scope: str, body: bytes) -> bytes:
        return hmac.new(self._secret, scope.encode() + b"\0" + body, sha256).digest()[:_MAC_BYTES]
