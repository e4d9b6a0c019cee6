"""Fetching a page: every address of every hop is checked, and only checked addresses are connected to."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from codeplane.kernel.config import WebConfig
from codeplane.kernel.errors import AddressDenied, FetchFailed
from codeplane.trust.web.hosts import HostLists
from codeplane.trust.web.network import Answer, Network, Page
from codeplane.trust.web.target import Target, redirected
from codeplane.trust.web.unpacking import unpacked

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MAX_ADDRESSES = 64
_TRIED = 3
# Nothing else a server says there: it is shown beside the content, outside of its marks.
_KIND = re.compile(r"[A-Za-z0-9.+-]{1,40}/[A-Za-z0-9.+-]{1,60}(?=\s*(?:;|$))")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.I)

# Why an address with a port is refused, or nothing.
AddressCheck = Callable[[str, int], str]
BeforeContact = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much and how long one page may take, redirects included."""

    max_bytes: int
    seconds: float
    redirects: int


class Fetching:
    """Fetches pages from checked addresses."""

    def __init__(self, *, network: Network, check: AddressCheck, config: WebConfig) -> None:
        self._network = network
        self._check = check
        self._hosts = HostLists(allow=config.allow, deny=config.deny)

    def allowed(self, wanted: Target) -> None:
        """AddressDenied for what can be told from the target alone, without looking anything up."""
        self._hosts.check(wanted.host)
        if wanted.is_address:
            self._checked(wanted, [wanted.host])

    async def page(self, wanted: Target, limits: Limits, *, before_contact: BeforeContact) -> Page:
        """The page; each redirect is a target of its own.

        `before_contact` is awaited once no refusal can come from the caller's own words alone: from then on even an
        error can carry what others wrote, such as the host of a redirect.
        """
        hops: list[str] = []
        try:
            async with asyncio.timeout(limits.seconds):
                while True:
                    self.allowed(wanted)
                    addresses = await self._addresses(wanted)
                    if not hops:
                        await before_contact()
                    answer = await connected(self._network, wanted, addresses, limits.max_bytes)
                    location = answer.headers.get("location", "")
                    if answer.status not in _REDIRECTS or not location:
                        return _page(wanted, tuple(hops), answer, limits.max_bytes)
                    if len(hops) >= limits.redirects:
                        raise FetchFailed(
                            f"{hops[0] if hops else wanted.url} redirects more than {limits.redirects} times"
                        )
                    hops.append(wanted.url)
                    wanted = redirected(wanted, location)
        except TimeoutError as error:
            raise FetchFailed(f"{wanted.host} took longer than {limits.seconds:g} s") from error

    async def _addresses(self, wanted: Target) -> list[str]:
        addresses = [wanted.host] if wanted.is_address else list(await self._network.resolve(wanted.host, wanted.port))
        if not 0 < len(addresses) <= _MAX_ADDRESSES:
            raise FetchFailed(f"{wanted.host} has {len(addresses)} addresses")
        self._checked(wanted, addresses)
        return addresses

    def _checked(self, wanted: Target, addresses: Sequence[str]) -> None:
        """All of them: a name that leads to a public and to a private address is a trick, not a page."""
        for address in addresses:
            if why := self._check(address, wanted.port):
                raise AddressDenied(
                    f"{wanted.host} is not a public address: {why}", details={"host": wanted.host, "reason": why}
                )


async def connected(network: Network, wanted: Target, addresses: Sequence[str], max_bytes: int) -> Answer:
    """The answer of the first address that can be connected to."""
    failed: FetchFailed | None = None
    for address in addresses[:_TRIED]:
        try:
            return await network.get(wanted, address, max_bytes=max_bytes)
        except FetchFailed as error:
            failed = error
    assert failed is not None
    raise failed


def _page(wanted: Target, hops: tuple[str, ...], answer: Answer, max_bytes: int) -> Page:
    body, cut = unpacked(answer, max_bytes)
    said = answer.headers.get("content-type", "")
    kind, charset = _KIND.match(said), _CHARSET.search(said)
    return Page(
        target=wanted,
        hops=hops,
        status=answer.status,
        content_type=kind.group().lower() if kind else "",
        charset=charset.group(1).lower() if charset else "",
        body=body,
        truncated=cut,
    )
