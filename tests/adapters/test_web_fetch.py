"""The wire: one request to the address that is given, and to no other."""

import asyncio
import socket

import pytest

from codeplane.adapters.web_fetch import WebFetch, is_own_address, resolve_host
from codeplane.kernel.errors import AddressDenied, FetchFailed
from codeplane.trust.web.target import parse_target
from tests.interaction.requirements import requirement
from tests.trust.web.pages import Site, answer

pytestmark = requirement("TRUST-33")


async def test_the_address_decides_and_the_name_is_only_said(monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(answers={"/": answer("here")})
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    def refuse(host: str, port: int) -> list[str]:
        raise AssertionError("nothing is looked up for a request")

    async with server:
        wanted = parse_target(f"http://nowhere.invalid:{port}/")
        found = await WebFetch(resolve=refuse).get(wanted, "127.0.0.1", max_bytes=100)
        assert (found.status, found.body, found.cut) == (200, b"here", False)
        assert f"host: nowhere.invalid:{port}".encode() in site.asked[0].lower()


async def test_nothing_is_asked_of_another_address_than_the_one_that_was_checked() -> None:
    site = Site(answers={"/": answer("here")})
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    wanted = parse_target(f"http://nowhere.invalid:{server.sockets[0].getsockname()[1]}/")
    async with server:
        # The address of no host is connected to, and leads to this machine's own.
        with pytest.raises(AddressDenied, match="elsewhere"):
            await WebFetch().get(wanted, "0.0.0.0", max_bytes=100)
        assert site.asked == []


async def test_names_are_looked_up_by_the_system_and_failures_are_typed() -> None:
    assert resolve_host("127.0.0.1", 80) == ["127.0.0.1"]

    def fails(host: str, port: int) -> list[str]:
        raise socket.gaierror("no such name")

    with pytest.raises(FetchFailed):
        await WebFetch(resolve=fails).resolve("nowhere.invalid", 80)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(FetchFailed):
        await WebFetch().get(parse_target(f"http://nowhere.example:{port}/"), "127.0.0.1", max_bytes=100)


def test_what_is_ours_is_known_without_sending_anything() -> None:
    assert is_own_address("127.0.0.1")
    assert not is_own_address("192.0.2.1")
    assert not is_own_address("no address")
