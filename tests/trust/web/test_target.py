"""What is no public page is refused, however it is written."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.adapters.web_fetch import is_own_address
from codeplane.kernel.errors import AddressDenied, CodePlaneError, ConfigInvalid
from codeplane.trust.web.page_fetcher import HostLists
from codeplane.trust.web.public_address import public_address_check, refusal_reason
from codeplane.trust.web.target import parse_target, redirect_target
from tests.interaction.requirements import requirement

pytestmark = requirement("TRUST-33")


PRIVATE = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
    *("169.254.169.254", "169.254.170.2", "100.64.0.1", "100.127.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1"),
    *("198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    *("192.88.99.1", "168.63.129.16", "100.100.100.200"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1"),
    *("::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1"),
    *("2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "2001:10::1", "2001:20::1", "3fff::1", "100::1"),
    *("5f00::1", "4000::1", "not an address", "", "127.1", "0x7f000001", "2130706433", "0177.0.0.1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::200e"]


@pytest.mark.parametrize("address", PRIVATE)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert refusal_reason(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_not(address: str) -> None:
    assert refusal_reason(address) == ""


@given(address=st.ip_addresses())
def test_what_python_calls_private_is_never_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved or address.is_link_local:
        assert refusal_reason(str(address))


@given(inner=st.ip_addresses(v=4))
def test_no_form_of_an_ipv4_address_in_ipv6_gets_through(inner: ipaddress.IPv4Address) -> None:
    number = int(inner)
    for whole in (
        number,
        (0xFFFF << 32) | number,
        (0x64FF9B << 96) | number,
        (0x2002 << 112) | (number << 80),
        (0x20010000 << 96) | (number ^ 0xFFFFFFFF),
    ):
        assert refusal_reason(str(ipaddress.IPv6Address(whole)))


def test_this_machines_own_addresses_are_refused_though_they_may_be_public() -> None:
    assert is_own_address("127.0.0.1")
    assert not is_own_address("192.0.2.1")
    assert public_address_check(lambda address: address == "8.8.8.8")("8.8.8.8", 80) == "this machine itself"
    assert public_address_check(lambda address: False)("8.8.8.8", 80) == ""
    assert public_address_check(lambda address: False)("127.0.0.1", 80)


REFUSED = [
    *("file:///etc/passwd", "ftp://example.com/", "gopher://example.com/", "javascript:alert(1)", "data:text/html,x"),
    *(
        "http:example.com",
        "http:/example.com",
        "//example.com/",
        "example.com",
        "http://",
        "http:///path",
        "https://?x",
    ),
    *(
        "http://user@example.com/",
        "http://user:pw@example.com/",
        "http://example.com@127.0.0.1/",
        "http://@example.com/",
    ),
    *("http://127.1/", "http://0x7f.0.0.1/", "http://0x7f000001/", "http://2130706433/", "http://0177.0.0.1/"),
    *(
        "http://127.0.0.01/",
        "http://127.0.0.0x1/",
        "http://0/",
        "http://1.2.3.4.5/",
        "http://1.2.3.256/",
        "http://a.0x/",
    ),
    *("http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://redis/", "http://db.internal/"),
    *("http://printer.local/", "http://example.com../", "http://.example.com/", "http://exa mple.com/", "http://a..b/"),
    *("http://example.com\\@127.0.0.1/", "http://example.com\t/", "http://example.com\n/", " http://example.com/"),
    *("http://example.com:22/", "http://example.com:25/", "http://example.com:6379/", "http://example.com:0/"),
    *("http://example.com:99999/", "http://example.com:8 0/", "http://example.com:80:80/", "http://example.com:-1/"),
    *("http://[::1/", "http://[fe80::1%25eth0]/", "http://[v1.x]/", "http://[127.0.0.1]/", "http://::1/"),
    *(
        "http://ex%61mple.com/",
        "http://%31%32%37.0.0.1/",
        "http://-a.com/",
        "http://a-.com/",
        f"http://{'a' * 64}.com/",
    ),
    *("http://exam\u200bple.com/\u202e", "http://１２７.１/", "http://127。0。0。1。1/", "http://⑯⑨。254。⑯⑨。254.5/"),
    *("http://example.com\u2044@127.0.0.1/", "http://example.com\uff0f@127.0.0.1/", "http://a_\u0000.com/"),
]


@pytest.mark.parametrize("url", REFUSED)
def test_an_address_that_is_not_plain_is_refused(url: str) -> None:
    with pytest.raises(AddressDenied):
        parse_target(url)


ADDRESSES = {
    "http://127.0.0.1/": "127.0.0.1",
    "http://127.0.0.1./": "127.0.0.1",
    "http://１２７.０.０.１/": "127.0.0.1",
    "http://127。0。0。1/": "127.0.0.1",
    "http://[::1]/": "::1",
    "http://[0:0:0:0:0:ffff:7f00:1]/": "::ffff:7f00:1",
    "https://[fd00:ec2::254]/": "fd00:ec2::254",
}


@pytest.mark.parametrize("url", ADDRESSES)
def test_an_address_in_place_of_a_name_is_known_as_one_and_judged(url: str) -> None:
    found = parse_target(url)
    assert (found.is_address, found.host) == (True, ADDRESSES[url])
    assert refusal_reason(found.host)


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("http://Example.COM", "http://example.com/"),
        ("https://example.com.:443/a b".replace(" ", "%20"), "https://example.com/a%20b"),
        ("HTTPS://example.com:8443/ä?q=ü&r=%2F#part", "https://example.com:8443/%C3%A4?q=%C3%BC&r=%2F"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.com/..//../x", "http://example.com/..//../x"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://[2606:4700::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("http://example.com?x", "http://example.com/?x"),
    ],
)
def test_a_plain_address_is_sent_in_one_form(url: str, sent: str) -> None:
    assert parse_target(url).url == sent
    assert parse_target(sent).url == sent


@given(url=st.text(max_size=60).map(lambda text: f"http://{text}/"))
def test_whatever_is_asked_for_there_is_one_host_and_a_request_of_one_line(url: str) -> None:
    try:
        found = parse_target(url)
    except CodePlaneError:
        return
    assert found.path.isascii()
    assert found.path.isprintable()
    assert " " not in found.path
    assert all(one.isalnum() or one in "-._:" for one in found.host)


def test_a_redirect_is_judged_from_the_start() -> None:
    here = parse_target("https://example.com/a/b")
    assert redirect_target(here, "../c").url == "https://example.com/c"
    assert redirect_target(here, "//other.example/x").url == "https://other.example/x"
    for location in (
        "http://example.com/",
        "file:///etc/passwd",
        "//user@x.example/",
        "http://[",
        "https://localhost/",
    ):
        with pytest.raises(AddressDenied):
            redirect_target(here, location)


def test_the_owners_lists_hold_for_every_spelling() -> None:
    lists = HostLists(allow=("*.Example.com", "docs.*.org"), deny=("secret.example.com.", "bücher.example"))
    for host in ("example.com", "a.example.com", "a.b.example.com", "docs.python.org"):
        lists.check(host)
    for host in ("secret.example.com", "example.org", "badexample.com", "docs.a.b.org", "example.com.evil.org"):
        with pytest.raises(AddressDenied):
            lists.check(host)
    with pytest.raises(AddressDenied):
        HostLists(allow=(), deny=("bücher.example",)).check(parse_target("http://BÜCHER.example./").host)
    HostLists(allow=(), deny=()).check("anything.example")
    with pytest.raises(ConfigInvalid):
        HostLists(allow=(), deny=("ä" * 80,))
