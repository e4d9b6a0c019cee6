"""The client of an OpenTelemetry collector, which traces are sent to."""

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
_RETRYABLE = frozenset({408, 429, 502, 503, 504})


class CollectorRefused(Exception):
    """The collector refused a batch; `again` when a retry may succeed."""

    def __init__(self, reason: str, *, again: bool) -> None:
        super().__init__(reason)
        self.again = again


Send = Callable[[bytes], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtlpCollector:
    """Sends batches by POST, without following redirects, and unencrypted only to this machine."""

    secure: bool
    host: str
    port: int
    path: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, endpoint: str, *, header_variable: str = "") -> "OtlpCollector":
        """The collector of a setting; ConfigInvalid for an invalid address, or an unencrypted one elsewhere."""
        try:
            url = urlsplit(endpoint)
            port = url.port
        except ValueError as error:
            raise ConfigInvalid(f"observe.otlp_endpoint is not a URL: {error}") from error
        if url.scheme not in ("http", "https") or not url.hostname or url.username or url.query:
            raise ConfigInvalid(
                f"observe.otlp_endpoint is {endpoint!r}", hint="as in http://127.0.0.1:4318 or https://host:4318"
            )
        secure = url.scheme == "https"
        if not secure and not _is_local(url.hostname):
            raise ConfigInvalid(
                f"observe.otlp_endpoint sends in the clear to {url.hostname}",
                hint="use https, or a collector on this machine",
            )
        path = url.path.rstrip("/")
        return cls(
            secure=secure,
            host=url.hostname,
            port=port or (443 if secure else 4318),
            path=path if path.endswith(PATH) else path + PATH,
            headers={"content-type": "application/json", "user-agent": "codeplane", **_header(header_variable)},
        )

    def send(self, body: bytes) -> None:
        """Send one batch, or raise CollectorRefused."""
        connection_class = HTTPSConnection if self.secure else HTTPConnection
        connection = connection_class(self.host, self.port, timeout=_TIMEOUT_SEC)
        try:
            connection.request("POST", self.path, body=body, headers=dict(self.headers))
            response = connection.getresponse()
            response.read(_ANSWER_BYTES)
        except (OSError, HTTPException) as error:
            raise CollectorRefused(f"{type(error).__name__}: {error}", again=True) from error
        finally:
            connection.close()
        if not 200 <= response.status < 300:
            raise CollectorRefused(f"it answered {response.status}", again=response.status in _RETRYABLE)


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        # A name could resolve to another machine.
        return False


def _header(variable: str) -> dict[str, str]:
    if not variable:
        return {}
    name, separator, value = os.environ.get(variable, "").partition("=")
    if not separator or not name.strip().isprintable() or not value.isprintable():
        raise ConfigInvalid(
            f"the environment variable {variable} is not a header", hint="as in authorization=Bearer TOKEN"
        )
    return {name.strip().lower(): value.strip()}
