"""Tells public IP addresses from all others, however they are written."""

import ipaddress
from collections.abc import Callable

_V4 = tuple(
    (ipaddress.IPv4Network(network), why)
    for network, why in (
        ("0.0.0.0/8", "this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a provider's customers"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local, where clouds answer with secrets"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        # Cloud platforms serve credentials there, though the address is public.
        ("168.63.129.16/32", "a cloud's own service"),
    )
)
# Only IPv6 addresses allocated as public; all others (loopback, local, mapped, compatible, NAT64 …) lie outside.
_V6_PUBLIC = ipaddress.IPv6Network("2000::/3")
_V6 = tuple(
    (ipaddress.IPv6Network(network), why)
    for network, why in (
        ("2001::/23", "reserved for protocols, as Teredo"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "6to4, which holds an IPv4 address"),
        ("3fff::/20", "documentation"),
    )
)


def refusal_reason(address: str) -> str:
    """Why an address is refused, or an empty string when it is public."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "it is not an address"
    if isinstance(parsed, ipaddress.IPv4Address):
        return next((why for network, why in _V4 if parsed in network), "")
    if parsed.scope_id is not None:
        return "it belongs to one interface"
    if (inner := parsed.ipv4_mapped) is not None:
        return f"an IPv4 address in IPv6 ({refusal_reason(str(inner)) or 'mapped'})"
    if parsed not in _V6_PUBLIC:
        return "local, private or reserved"
    return next((why for network, why in _V6 if parsed in network), "")


def public_address_check(is_own: Callable[[str], bool]) -> Callable[[str, int], str]:
    """A check that refuses all but public addresses, and this machine's own."""

    def check(address: str, port: int) -> str:
        return refusal_reason(address) or ("this machine itself" if is_own(address) else "")

    return check
