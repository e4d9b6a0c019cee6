"""What is done on the wire, as a port: names are looked up here, and one request goes to one checked address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codeplane.trust.web.target import Target


class Answer(Protocol):
    """What a server answered; header names are lower-case, `body` is as sent, and whole unless `cut`."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def body(self) -> bytes: ...

    @property
    def cut(self) -> bool: ...


class Network(Protocol):
    """The wire."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """All addresses of a name; FetchFailed when it has none."""
        ...

    async def get(self, wanted: "Wanted", address: str, *, max_bytes: int) -> Answer:
        """Ask that address, and no other, for the page; the certificate is checked for the host."""
        ...


class Wanted(Protocol):
    """What the wire needs to know of a target."""

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
    """A page that was fetched: where it was found in the end, over which other places, and what it holds."""

    target: Target
    hops: tuple[str, ...]
    status: int
    content_type: str
    charset: str
    body: bytes
    truncated: bool
