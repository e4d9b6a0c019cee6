"""Fetches pages: every address of every hop is checked, and only checked addresses are connected to."""

import asyncio
import re
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from codeplane.kernel.config import WebConfig
from codeplane.kernel.errors import AddressDenied, ConfigInvalid, FetchFailed
from codeplane.trust.web.network import Network, Page, Response
from codeplane.trust.web.target import Target, redirect_target

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_ADDRESSES = 64
_MAX_TRIED = 3
# Strict, because the type is shown outside of the content's markers.
_KIND = re.compile(r"[A-Za-z0-9.+-]{1,40}/[A-Za-z0-9.+-]{1,60}(?=\s*(?:;|$))")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.I)

# Why an address with a port is refused, or an empty string.
AddressCheck = Callable[[str, int], str]
BeforeContact = Callable[[], Awaitable[None]]
# With a zlib or gzip header, and without one, as some servers send `deflate`.
_ANY_HEADER = zlib.MAX_WBITS | 32
_NO_HEADER = -zlib.MAX_WBITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The size and time limits of one page, redirects included."""

    max_bytes: int
    seconds: float
    redirects: int


class PageFetcher:
    """Fetches pages from checked addresses."""

    def __init__(self, *, network: Network, check: AddressCheck, config: WebConfig) -> None:
        self._network = network
        self._check = check
        self._hosts = HostLists(allow=config.allow, deny=config.deny)

    def check_target(self, wanted: Target) -> None:
        """Raise AddressDenied for what the target alone shows, without a lookup."""
        self._hosts.check(wanted.host)
        if wanted.is_address:
            self._check_addresses(wanted, [wanted.host])

    async def page(self, wanted: Target, limits: Limits, *, before_contact: BeforeContact) -> Page:
        """Fetch the page; each redirect is checked as a target of its own.

        `before_contact` is awaited before the first request: from then on even an error can carry untrusted content,
        such as the host of a redirect.
        """
        hops: list[str] = []
        try:
            async with asyncio.timeout(limits.seconds):
                while True:
                    self.check_target(wanted)
                    addresses = await self._addresses(wanted)
                    if not hops:
                        await before_contact()
                    response = await get_first(self._network, wanted, addresses, limits.max_bytes)
                    location = response.headers.get("location", "")
                    if response.status not in _REDIRECTS or not location:
                        return _page(wanted, tuple(hops), response, limits.max_bytes)
                    if len(hops) >= limits.redirects:
                        raise FetchFailed(
                            f"{hops[0] if hops else wanted.url} redirects more than {limits.redirects} times"
                        )
                    hops.append(wanted.url)
                    wanted = redirect_target(wanted, location)
        except TimeoutError as error:
            raise FetchFailed(f"{wanted.host} took longer than {limits.seconds:g} s") from error

    async def _addresses(self, wanted: Target) -> list[str]:
        addresses = [wanted.host] if wanted.is_address else list(await self._network.resolve(wanted.host, wanted.port))
        if not 0 < len(addresses) <= _MAX_ADDRESSES:
            raise FetchFailed(f"{wanted.host} has {len(addresses)} addresses")
        self._check_addresses(wanted, addresses)
        return addresses

    def _check_addresses(self, wanted: Target, addresses: Sequence[str]) -> None:
        """Check all addresses: a name with a public and a private address is refused."""
        for address in addresses:
            if why := self._check(address, wanted.port):
                raise AddressDenied(
                    f"{wanted.host} is not a public address: {why}", details={"host": wanted.host, "reason": why}
                )


async def get_first(network: Network, wanted: Target, addresses: Sequence[str], max_bytes: int) -> Response:
    """The response of the first address that can be connected to."""
    error: FetchFailed | None = None
    for address in addresses[:_MAX_TRIED]:
        try:
            return await network.get(wanted, address, max_bytes=max_bytes)
        except FetchFailed as refused:
            error = refused
    assert error is not None
    raise error


def _page(wanted: Target, hops: tuple[str, ...], response: Response, max_bytes: int) -> Page:
    body, truncated = decompress(response, max_bytes)
    content_type = response.headers.get("content-type", "")
    kind, charset = _KIND.match(content_type), _CHARSET.search(content_type)
    return Page(
        target=wanted,
        hops=hops,
        status=response.status,
        content_type=kind.group().lower() if kind else "",
        charset=charset.group(1).lower() if charset else "",
        body=body,
        truncated=truncated,
    )


class HostLists:
    """The owner's host lists: `allow` restricts to its hosts, `deny` excludes; `*.x` matches x and its subdomains."""

    def __init__(self, *, allow: Sequence[str], deny: Sequence[str]) -> None:
        self._allow = tuple(map(_compile, allow))
        self._deny = tuple(map(_compile, deny))

    def check(self, host: str) -> None:
        """Raise AddressDenied unless the host may be fetched from."""
        if any(pattern.fullmatch(host) for pattern in self._deny):
            raise AddressDenied(f"{host} is on the owner's list web.deny")
        if self._allow and not any(pattern.fullmatch(host) for pattern in self._allow):
            raise AddressDenied(f"{host} is not on the owner's list web.allow")


def _compile(pattern: str) -> re.Pattern[str]:
    plain = pattern.strip().lower().removesuffix(".").removeprefix("[").removesuffix("]")
    try:
        plain = plain.encode("idna").decode("ascii") if not plain.isascii() else plain
    except UnicodeError as error:
        raise ConfigInvalid(f"web.allow or web.deny names {pattern[:100]!r}, which is no host") from error
    if not plain:
        raise ConfigInvalid("web.allow or web.deny names an empty host")
    if plain.startswith("*."):
        return re.compile(r"(?:.+\.)?" + _glob(plain[2:]))
    return re.compile(_glob(plain))


def _glob(pattern: str) -> str:
    # A star matches within one label.
    return "".join("[^.]*" if character == "*" else re.escape(character) for character in pattern)


def decompress(response: Response, max_bytes: int) -> tuple[bytes, bool]:
    """The decompressed body, at most `max_bytes` of it, and whether some is missing."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return response.body[:max_bytes], response.cut or len(response.body) > max_bytes
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchFailed(f"the page is packed as {encoding[:40]!r}, which was not asked for")
    for bits in (_ANY_HEADER, _NO_HEADER):
        decompressor = zlib.decompressobj(bits)
        try:
            body = decompressor.decompress(response.body, max_bytes + 1)
        except zlib.error as error:
            if bits == _NO_HEADER or encoding != "deflate":
                raise FetchFailed("the page is packed in a way that cannot be unpacked") from error
            continue
        return body[:max_bytes], response.cut or len(body) > max_bytes or not decompressor.eof or bool(
            decompressor.unused_data
        )
    raise AssertionError("unreachable")
