"""Which addresses the server may bind: loopback, and others only with TLS and tokens."""

from ipaddress import ip_address

from codeplane.kernel.config import ServerConfig
from codeplane.kernel.errors import BindRefused

_HINT = "set server.host to 127.0.0.1 or ::1, or server.tls to self_signed or files and server.require_token to true"


def address(host: str) -> str:
    """The IP address a host setting names; names but localhost are not looked up, since what they mean can change."""
    literal = "127.0.0.1" if host == "localhost" else host
    try:
        return str(ip_address(literal))
    except ValueError:
        raise BindRefused(f"server.host is {host!r}, which is not an IP address", hint=_HINT) from None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    found = ip_address(address(host))
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


def may_bind(config: ServerConfig) -> None:
    """Refuse an address that other machines reach, unless TLS is on and everyone needs a token."""
    if is_loopback(config.host):
        return
    missing = [
        name
        for name, there in (
            ("server.tls, which is off", config.tls != "off"),
            ("server.require_token, which is false", config.require_token),
        )
        if not there
    ]
    if missing:
        raise BindRefused(f"server.host {config.host!r} is not loopback and needs {' and '.join(missing)}", hint=_HINT)
