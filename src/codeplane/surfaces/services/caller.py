"""The caller of a service, from its headers."""

from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import Unauthorized

_LONGEST_CLIENT = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Headers:
    """The headers of a request, in a form common to all protocols."""

    surface: str
    authorization: Sequence[str]
    user_agent: str = ""
    request_id: str | None = None
    timeout_sec: float | None = None
    traceparent: str | None = None

    def caller(self, connection_id: str | None = None) -> Caller:
        """Return the caller; Unauthorized when headers contradict each other."""
        return Caller(
            surface=self.surface,
            connection_id=connection_id,
            client=_printable(self.user_agent) or None,
            token=bearer(self.authorization),
            request_id=self.request_id,
            timeout_sec=self.timeout_sec,
            traceparent=self.traceparent,
        )


def bearer(values: Sequence[str]) -> str | None:
    """Return the bearer token; refuse more than one authorization header as ambiguous."""
    if len(values) > 1:
        raise Unauthorized(f"there are {len(values)} authorization headers", hint="send exactly one")
    scheme, _, token = values[0].strip().partition(" ") if values else ("", "", "")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        return None
    if "," in token or " " in token or not token.isprintable():
        raise Unauthorized("the authorization header holds more than one token", hint="send exactly one")
    return token


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name[:_LONGEST_CLIENT])
