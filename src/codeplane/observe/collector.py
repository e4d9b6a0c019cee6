"""An OpenTelemetry collector as an address: where traces are sent, and what it answers."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from urllib.parse import urlsplit

from codeplane.kernel.errors import ConfigInvalid
from codeplane.observe.otlp import PATH

_TIMEOUT_SEC = 10.0
_ANSWER_BYTES = 65_536
_AGAIN = frozenset({408, 429, 502, 503, 504})


class Refused(Exception):
    """The collector did not take a batch; `again` when it may take it later."""

    def __init__(self, reason: str, *, again: bool) -> None:
        super().__init__(reason)
        self.again = again


Send = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtlpCollector:
    """Sends batches by POST; nothing is followed elsewhere, and nothing goes out in the clear."""

    secure: bool
    host: str
    port: int
    path: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, endpoint: str, *, header_variable: str = "") -> "OtlpCollector":
        """The collector of a setting; ConfigInvalid for an address that cannot be, or that others could read along."""
        try:
            found = urlsplit(endpoint)
            port = found.port
        except ValueError as error:
            raise ConfigInvalid(f"observe.otlp_endpoint is no address: {error}") from error
        if found.scheme not in ("http", "https") or not found.hostname or found.username or found.query:
            raise ConfigInvalid(
                f"observe.otlp_endpoint is {endpoint!r}", hint="as in http://127.0.0.1:4318 or https://host:4318"
            )
        secure = found.scheme == "https"
        if not secure and not _is_here(found.hostname):
            raise ConfigInvalid(
                f"observe.otlp_endpoint sends in the clear to {found.hostname}",
                hint="use https, or a collector on this machine",
            )
        path = found.path.rstrip("/")
        return cls(
            secure=secure,
            host=found.hostname,
            port=port or (443 if secure else 4318),
            path=path if path.endswith(PATH) else path + PATH,
            headers={"content-type": "application/json", "user-agent": "codeplane", **_header(header_variable)},
        )

    def send(self, body: bytes) -> None:
        """Hand over one batch, or Refused."""
        kind = HTTPSConnection if self.secure else HTTPConnection
        connection = kind(self.host, self.port, timeout=_TIMEOUT_SEC)
        try:
            connection.request("POST", self.path, body=body, headers=dict(self.headers))
            answer = connection.getresponse()
            answer.read(_ANSWER_BYTES)
        except (OSError, HTTPException) as error:
            raise Refused(f"{type(error).__name__}: {error}", again=True) from error
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise Refused(f"it answered {answer.status}", again=answer.status in _AGAIN)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        # A name can come to mean another machine.
        return False


def _header(variable: str) -> dict[str, str]:
    if not variable:
        return {}
    name, found, value = os.environ.get(variable, "").partition("=")
    if not found or not name.strip().isprintable() or not value.isprintable():
        raise ConfigInvalid(
            f"the environment variable {variable} holds no header", hint="as in authorization=Bearer TOKEN"
        )
    return {name.strip().lower(): value.strip()}
