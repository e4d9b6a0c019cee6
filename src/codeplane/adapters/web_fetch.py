"""HTTP GET by asyncio and h11 from a checked address, without proxies and cookies."""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import h11

from codeplane.kernel.errors import AddressDenied, FetchFailed

_CONNECT_SEC = 6.0
_READ_BYTES = 64 * 1024
_MAX_HEAD = 64 * 1024
_HEADERS = (
    ("user-agent", "CodePlane"),
    ("accept", "text/html, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8, */*;q=0.5"),
    ("accept-language", "en, *;q=0.5"),
    ("accept-encoding", "gzip, deflate"),
    ("connection", "close"),
)

Resolve = Callable[[str, int], Sequence[str]]


class RequestTarget(Protocol):
    """The URL parts of a request."""

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
class Response:
    """A server's response; `cut` when the body was longer than the limit."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool


def resolve_host(host: str, port: int) -> list[str]:
    """Resolve a host name to all its addresses; blocks."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(place[0]) for *_, place in entries))


def is_own_address(address: str) -> bool:
    """Return whether an address, public or not, belongs to this machine; sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return ipaddress.ip_address(str(probe.getsockname()[0])) == ipaddress.ip_address(address)
    except (OSError, ValueError):
        # Not to be reached at all, so not ours.
        return False


class WebFetch:
    """Fetches one page from one address; it never resolves names."""

    def __init__(self, *, resolve: Resolve = resolve_host, tls: ssl.SSLContext | None = None) -> None:
        self._resolve = resolve
        self._given = tls
        # Of its own: a name server that does not answer must not hold up everybody's threads.
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="resolve")

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Resolve a name to all its addresses."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._resolve, host, port)
        except (OSError, UnicodeError) as error:
            raise FetchFailed(f"{host} cannot be looked up", hint="check the name; then try again") from error

    async def get(self, wanted: RequestTarget, address: str, *, max_bytes: int) -> Response:
        """Send one GET to the address, verifying the certificate for the host."""
        try:
            async with asyncio.timeout(_CONNECT_SEC):
                reader, writer = await asyncio.open_connection(
                    address,
                    wanted.port,
                    ssl=self._tls if wanted.secure else None,
                    server_hostname=wanted.host if wanted.secure else None,
                )
        except TimeoutError as error:
            raise FetchFailed(f"{wanted.host} does not answer") from error
        except ssl.SSLError as error:
            raise FetchFailed(f"{wanted.host} cannot show that it is {wanted.host}: {error.reason}") from error
        except OSError as error:
            raise FetchFailed(f"{wanted.host} cannot be reached: {error.strerror or error}") from error
        try:
            _check_address(writer, address)
            return await _exchange(reader, writer, wanted, max_bytes)
        except h11.RemoteProtocolError as error:
            raise FetchFailed(f"{wanted.host} does not speak HTTP as it should: {str(error)[:200]}") from error
        except OSError as error:
            raise FetchFailed(f"{wanted.host} broke off: {error.strerror or error}") from error
        finally:
            # Without a farewell: what is still on the way is not wanted.
            writer.transport.abort()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        if self._given is not None:
            return self._given
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context


def _check_address(writer: asyncio.StreamWriter, address: str) -> None:
    peer = writer.get_extra_info("peername")
    if peer is None or ipaddress.ip_address(peer[0]) != ipaddress.ip_address(address):
        raise AddressDenied("the connection leads elsewhere than to the address that was checked")


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wanted: RequestTarget, max_bytes: int
) -> Response:
    http = h11.Connection(our_role=h11.CLIENT, max_incomplete_event_size=_MAX_HEAD)
    request = h11.Request(method="GET", target=wanted.path, headers=[("host", wanted.authority), *_HEADERS])
    writer.write((http.send(request) or b"") + (http.send(h11.EndOfMessage()) or b""))
    await writer.drain()
    # Also of what is no body: padding between chunks, answers before the answer.
    left = 2 * max_bytes + 2 * _MAX_HEAD
    status, headers, body = 0, dict[str, str](), bytearray()
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            data = await reader.read(_READ_BYTES)
            left -= len(data)
            if left < 0:
                return _answer(status, headers, body, max_bytes, cut=True)
            http.receive_data(data)
        elif isinstance(event, h11.Response):
            status = event.status_code
            for name, value in event.headers:
                headers.setdefault(name.decode("latin-1").lower(), value.decode("latin-1"))
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > max_bytes:
                return _answer(status, headers, body, max_bytes, cut=True)
        elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
            return _answer(status, headers, body, max_bytes, cut=False)


def _answer(status: int, headers: Mapping[str, str], body: bytearray, max_bytes: int, *, cut: bool) -> Response:
    if not status:
        raise FetchFailed("the server did not answer with a page")
    return Response(status=status, headers=headers, body=bytes(body[:max_bytes]), cut=cut)
