"""The target of a web request: a URL, parsed once and strictly."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from codeplane.kernel.errors import AddressDenied, InvalidArgument

MAX_URL = 4096
_PORTS = {"http": 80, "https": 443}
_PATH = "/:@!$&'()*+,;=~%-._"
_QUERY = f"{_PATH}?[]|{{}}^`"
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# Names that never lead to a public page; what they resolve to would be refused as well.
_LOCAL = frozenset({"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "arpa"})
# Ports of other protocols, whose servers might misread a request.
_OTHER_PROTOCOLS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6679, 6697, 10080, 11211}
    | set(range(6665, 6670))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A parsed URL; `host` is lower-case ASCII, or an address without brackets."""

    secure: bool
    host: str
    port: int
    path: str
    is_address: bool

    @property
    def authority(self) -> str:
        """The host and port as a request writes them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self._scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in canonical form."""
        return f"{self._scheme}://{self.authority}{self.path}"

    @property
    def _scheme(self) -> str:
        return "https" if self.secure else "http"


def parse_target(url: str) -> Target:
    """Parse a URL; AddressDenied with the reason for anything but plain http or https."""
    if not 0 < len(url) <= MAX_URL:
        raise InvalidArgument(f"url has 1 to {MAX_URL} characters")
    if any(character.isspace() or not character.isprintable() or character == "\\" for character in url):
        raise AddressDenied("blanks, backslashes and invisible characters have no place in an address")
    try:
        parts = urlsplit(url)
        port = parts.port
        hostname = parts.hostname
    except ValueError as error:
        raise AddressDenied(f"it is not an address: {str(error)[:200]}") from error
    if parts.scheme not in _PORTS or not url.lower().startswith(f"{parts.scheme}://"):
        raise AddressDenied(f"only http:// and https:// are fetched, not {parts.scheme[:20] or 'nothing'}")
    if "@" in parts.netloc:
        raise AddressDenied("a name or password in an address is not sent")
    if not hostname:
        raise AddressDenied("the address names no host")
    bracketed = parts.netloc.startswith("[")
    host, is_address = _parse_ipv6(hostname) if bracketed else _parse_host(hostname)
    return Target(
        secure=parts.scheme == "https",
        host=host,
        port=_port(parts.scheme, port),
        path=_path(parts.path, parts.query),
        is_address=is_address,
    )


def redirect_target(current: Target, location: str) -> Target:
    """The target of a redirect, parsed like any other; never from https to http."""
    try:
        joined = urljoin(current.url, location.strip())
    except ValueError as error:
        raise AddressDenied("the redirect leads nowhere") from error
    target = parse_target(joined)
    if current.secure and not target.secure:
        raise AddressDenied(f"the redirect leads from https to http: {target.host}")
    return target


def _port(scheme: str, port: int | None) -> int:
    if port is None:
        return _PORTS[scheme]
    if port not in _PORTS.values() and (port < 1024 or port in _OTHER_PROTOCOLS):
        raise AddressDenied(f"port {port} is for other things than pages")
    return port


def _parse_ipv6(hostname: str) -> tuple[str, bool]:
    try:
        address = ipaddress.IPv6Address(hostname)
    except ValueError as error:
        raise AddressDenied("the brackets hold no IPv6 address") from error
    if address.scope_id is not None:
        raise AddressDenied("an address of one interface is local")
    return str(address), True


def _parse_host(hostname: str) -> tuple[str, bool]:
    """The host in lower-case ASCII without a trailing dot; an IPv4 address only in its usual form."""
    if "%" in hostname:
        raise AddressDenied("a host with percent signs is not a host")
    try:
        # Look-alikes of digits and dots become these here, before anything is checked.
        host = hostname.encode("idna").decode("ascii").lower() if not hostname.isascii() else hostname.lower()
    except UnicodeError as error:
        raise AddressDenied("the host is not a name that can be looked up") from error
    host = host.removesuffix(".")
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(host)), True
        except ValueError as error:
            raise AddressDenied("an IPv4 address is written as four decimal numbers, and not otherwise") from error
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressDenied("the host is not a name that can be looked up")
    if len(labels) == 1 or labels[-1] in _LOCAL:
        raise AddressDenied(f"{host} is a local name")
    return host, False


# Names that never lead to a public page; what they resolve to would be refused as well.
_LOCAL = frozenset(
    {"localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "onion", "arpa"}
)


def _path(path: str, query: str) -> str:
    """Path and query as a request may carry them, quoted."""
    quoted = quote(path or "/", safe=_PATH)
    quoted = quoted if quoted.startswith("/") else f"/{quoted}"
    return f"{quoted}?{quote(query, safe=_QUERY)}" if query else quoted
