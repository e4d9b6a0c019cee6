"""Finding servers that announce themselves in the local network (Bonjour, which is multicast DNS)."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codeplane.kernel.errors import InvalidArgument, ServerUnreachable

if TYPE_CHECKING:
    from zeroconf import ServiceStateChange, Zeroconf

SERVICE = "_codeplane._tcp.local."
MAX_FOUND = 100
_MAX_SEC = 60.0
_INFO_MS = 3000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncedServer:
    """A server as it announces itself; nothing proves that it is the one it says, until its certificate does."""

    name: str
    addresses: tuple[str, ...]
    port: int
    version: str
    fingerprint: str


def find_announced(*, seconds: float = 3.0, interfaces: Sequence[str] = ()) -> list[AnnouncedServer]:
    """Return the servers that announce themselves, at most 100, after listening so long.

    `interfaces` are addresses of this machine to listen on, else all. Only servers with TLS announce themselves, and
    only where their owners switched that on.
    """
    if not 0 < seconds <= _MAX_SEC:
        raise InvalidArgument(f"seconds is {seconds}", hint=f"more than 0, and at most {_MAX_SEC:g}")
    # Slow to import, and few want it.
    from zeroconf import InterfaceChoice, ServiceBrowser, Zeroconf

    try:
        network = Zeroconf(interfaces=list(interfaces) or InterfaceChoice.All)
    except OSError as error:
        raise ServerUnreachable(f"the local network cannot be listened to: {error}", hint="name the host") from error
    try:
        names = _Names()
        browser = ServiceBrowser(network, SERVICE, handlers=[names.change])
        names.is_full.wait(seconds)
        browser.cancel()
        found = [_server(network, name) for name in sorted(names.found)[:MAX_FOUND]]
    finally:
        network.close()
    return [server for server in found if server is not None]


class _Names:
    """Collects names until there are too many."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.is_full = threading.Event()

    def change(self, zeroconf: "Zeroconf", service_type: str, name: str, state_change: "ServiceStateChange") -> None:
        """Note a name that came or went."""
        if state_change.name == "Removed":
            self.found.discard(name)
            return
        self.found.add(name)
        if len(self.found) >= MAX_FOUND:
            self.is_full.set()


def _server(network: "Zeroconf", name: str) -> AnnouncedServer | None:
    info = network.get_service_info(SERVICE, name, timeout=_INFO_MS)
    if info is None or info.port is None:
        return None
    texts = {
        key.decode("ascii", "replace"): (value or b"").decode("ascii", "replace")
        for key, value in info.properties.items()
    }
    return AnnouncedServer(
        name=name.removesuffix(f".{SERVICE}"),
        addresses=tuple(info.parsed_addresses()),
        port=info.port,
        version=texts.get("version", ""),
        fingerprint=texts.get("fingerprint", ""),
    )
