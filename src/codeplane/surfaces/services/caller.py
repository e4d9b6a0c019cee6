"""The caller of a service, from its headers, and what the address of a stream may ask for."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codeplane.kernel.actor import Caller
from codeplane.kernel.errors import InvalidArgument, Unauthorized

# The header, or gRPC metadata, with which a caller says how long it waits for a person; 0 is not at all.
APPROVAL_WAIT = "codeplane-approval-wait-ms"
_LONGEST_WAIT_MS = 3_600_000
_MILLISECONDS = re.compile(r"[0-9]{1,8}")
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
    # The values of APPROVAL_WAIT.
    approval_wait: Sequence[str] = ()

    def caller(self, connection_id: str | None = None) -> Caller:
        """Return the caller; Unauthorized when headers contradict each other, InvalidArgument for a wrong one."""
        return Caller(
            surface=self.surface,
            connection_id=connection_id,
            client=_printable(self.user_agent) or None,
            token=bearer(self.authorization),
            request_id=self.request_id,
            timeout_sec=self.timeout_sec,
            traceparent=self.traceparent,
            wait_sec=_wait_sec(self.approval_wait),
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


def check_filters(query: Iterable[str], known: Sequence[str]) -> None:
    """Raise InvalidArgument for a name in an address that is not known: a wrong filter would let everything through."""
    if unknown := sorted({*query} - {*known}):
        raise InvalidArgument(
            f"the address has {', '.join(repr(name[:_LONGEST_CLIENT]) for name in unknown[:5])}",
            hint=f"use {', '.join(known)}",
        )


def _wait_sec(values: Sequence[str]) -> float | None:
    """Return the seconds that a caller waits for a person at most; None where it leaves that to the settings."""
    if not values:
        return None
    if len(values) > 1 or not _MILLISECONDS.fullmatch(values[0]) or int(values[0]) > _LONGEST_WAIT_MS:
        raise InvalidArgument(
            f"{APPROVAL_WAIT} is {', '.join(values)[:100]!r}", hint=f"one number from 0 to {_LONGEST_WAIT_MS}"
        )
    return int(values[0]) / 1000


def _printable(name: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in name[:_LONGEST_CLIENT])
