"""Listens for announcements of servers in the local network (Bonjour, which is multicast DNS)."""

import threading
from collections.abc import Sequence

from zeroconf import InterfaceChoice, ServiceBrowser, ServiceListener, Zeroconf

from codeplane.client.discovery import AnnouncedServer
from codeplane.kernel.errors import ServerUnreachable

_INFO_MS = 3000
MAX_FOUND = 100


def browse(service: str, *, seconds: float, interfaces: Sequence[str]) -> list[AnnouncedServer]:
    """Return what is announced under a service's name within so many seconds, at most 100 of them."""
    try:
        network = Zeroconf(interfaces=list(interfaces) or InterfaceChoice.All)
    except OSError as error:
        raise ServerUnreachable(f"the local network cannot be listened to: {error}", hint="name the host") from error
    try:
        names = _Names()
        browser = ServiceBrowser(network, service, listener=names)
        names.is_full.wait(seconds)
        browser.cancel()
        found = [_server(network, service, name) for name in sorted(names.found)]
    finally:
        network.close()
    return [server for server in found if server is not None]


class _Names(ServiceListener):
    """Collects names until there are too many."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.is_full = threading.Event()

    def add_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.found.add(name)
        if len(self.found) >= MAX_FOUND:
            self.is_full.set()

    def remove_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.found.discard(name)

    def update_service(self, zc: Zeroconf, type_: str, name: str) -> None:
        self.found.add(name)


def _server(network: Zeroconf, service: str, name: str) -> AnnouncedServer | None:
    info = network.get_service_info(service, name, timeout=_INFO_MS)
    if info is None or info.port is None:
        return None
    texts = {
        key.decode("ascii", "replace"): (value or b"").decode("ascii", "replace")
        for key, value in info.properties.items()
    }
    return AnnouncedServer(
        name=name.removesuffix(f".{service}"),
        addresses=tuple(info.parsed_addresses()),
        port=info.port,
        version=texts.get("version", ""),
        fingerprint=texts.get("fingerprint", ""),
    )
