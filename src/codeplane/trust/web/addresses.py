"""Which addresses are public: everything that is not, in whatever form it is written, is refused."""

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
        # Platforms answer there with credentials, as on the link-local one, though the address is public.
        ("168.63.129.16/32", "a cloud's own service"),
    )
)
# Of IPv6 only what is given out as public; all else (loopback, local, mapped, compatible, NAT64 …) lies outside of it.
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


def refusal(address: str) -> str:
    """Why an address is not fetched from, or nothing when it is public; what is no address is refused, too."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "it is not an address"
    if isinstance(found, ipaddress.IPv4Address):
        return next((why for network, why in _V4 if found in network), "")
    if found.scope_id is not None:
        return "it belongs to one interface"
    if (inner := found.ipv4_mapped) is not None:
        return f"an IPv4 address in IPv6 ({refusal(str(inner)) or 'mapped'})"
    if found not in _V6_PUBLIC:
        return "local, private or reserved"
    return next((why for network, why in _V6 if found in network), "")


def strict(is_own: Callable[[str], bool]) -> Callable[[str, int], str]:
    """The check that pages are fetched with: public addresses alone, and none of this machine's own."""

    def check(address: str, port: int) -> str:
        return refusal(address) or ("this machine itself" if is_own(address) else "")

    return check
