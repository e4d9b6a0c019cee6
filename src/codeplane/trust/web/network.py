"""The port to the network: resolves names, and sends one request to one checked address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codeplane.trust.web.target import Target


class Response(Protocol):
    """A server's response; header names are lower-case, `body` is as sent, and complete unless `cut`."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def body(self) -> bytes: ...

    @property
    def cut(self) -> bool: ...


class Network(Protocol):
    """Resolves names and sends requests."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """All addresses of a name; FetchFailed when it has none."""
        ...

    async def get(self, wanted: "RequestTarget", address: str, *, max_bytes: int) -> Response:
        """Request the page from that address and no other; the certificate is checked for the host."""
        ...


class RequestTarget(Protocol):
    """The target of a request."""

    @property
    def secure(self) -> bool: ...

    @property
    def host(self) -> str: ...

    @property
    def port(self) -> int: ...

    @property
    def authority(self) -> str: ...

    @property
    def path(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A fetched page: its final target, the URLs before its redirects, and its content."""

    target: Target
    hops: tuple[str, ...]
    status: int
    content_type: str
    charset: str
    body: bytes
    truncated: bool
