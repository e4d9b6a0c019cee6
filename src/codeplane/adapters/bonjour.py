"""Announces the server in the local network by Bonjour (multicast DNS), where its owner switched that on."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING

from structlog.typing import FilteringBoundLogger

from codeplane import __version__
from codeplane.adapters.certificates import Tls
from codeplane.kernel.binding import address
from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import ConfigInvalid

if TYPE_CHECKING:
    from zeroconf.asyncio import AsyncZeroconf

SERVICE = "_codeplane._tcp.local."
# A name of DNS has at most 63 bytes.
_LONGEST_NAME = 63


def check_announcement(config: ServerConfig) -> None:
    """Refuse to announce a server without TLS: who finds it would send its token in the clear."""
    if config.announce and config.tls == "off":
        raise ConfigInvalid(
            "server.announce is on, but server.tls is off",
            hint="set server.tls: self_signed, or server.announce: false",
        )


@asynccontextmanager
async def announced(
    config: ServerConfig, tls: Tls | None, *, port: int, logger: FilteringBoundLogger
) -> AsyncIterator[None]:
    """Announce the TLS port until the end of the block, and nothing about the repository."""
    if not config.announce or tls is None:
        yield
        return
    # In the background: a name is probed for in the network, which takes a second.
    task = asyncio.ensure_future(_announce(config, tls, port=port, logger=logger))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _announce(config: ServerConfig, tls: Tls, *, port: int, logger: FilteringBoundLogger) -> None:
    # Slow to import, and few want it.
    from zeroconf import Error, InterfaceChoice
    from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

    host = address(config.host)
    is_everywhere = ip_address(host).is_unspecified
    network: AsyncZeroconf | None = None
    try:
        machine = socket.gethostname().partition(".")[0] or "codeplane"
        info = AsyncServiceInfo(
            SERVICE,
            f"{f'CodePlane on {machine}'.encode()[:_LONGEST_NAME].decode('utf-8', 'ignore')}.{SERVICE}",
            parsed_addresses=_own_addresses() if is_everywhere else [host],
            port=port,
            properties={"version": __version__, "fingerprint": tls.fingerprint},
            server=f"{machine}.local.",
        )
        network = AsyncZeroconf(interfaces=InterfaceChoice.All if is_everywhere else [host])
        await (await network.async_register_service(info, allow_name_change=True))
        logger.info("the server announces itself in the local network", name=info.name, port=port)
        await asyncio.Event().wait()
    except (OSError, Error) as error:
        logger.warning("the server could not be announced in the local network", reason=str(error) or repr(error))
    finally:
        if network is not None:
            await _close(network)


async def _close(network: "AsyncZeroconf") -> None:
    await network.async_unregister_all_services()
    await network.async_close()


def _own_addresses() -> list[str]:
    """The addresses of this machine that others can reach."""
    import ifaddr

    found = [str(ip.ip) for adapter in ifaddr.get_adapters() for ip in adapter.ips if isinstance(ip.ip, str)]
    return [ip for ip in found if not ip_address(ip).is_loopback]
