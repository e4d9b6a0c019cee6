"""The event socket as tools meet it: a real server, a real client, from the right place only."""

import asyncio
import importlib.util
import json

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement

pytestmark = [
    requirement("OBS-14"),
    pytest.mark.skipif(
        importlib.util.find_spec("websockets") is None,
        reason="websockets is not installed: real sockets are not tested",
    ),
]


def address(server: Server, query: str = "") -> str:
    """Where the socket is."""
    return f"ws://{server.host}:{server.port}/ws/events{query}"


async def opened(server: Server, origin: str | None, host: str | None = None) -> int:
    """101 when the socket opens, else the status it is refused with, which comes with an error of ours."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus
    from websockets.typing import Origin

    headers = {"Host": host} if host else {}
    try:
        async with connect(address(server), origin=Origin(origin) if origin else None, additional_headers=headers):
            return 101
    except InvalidStatus as refused:
        error = json.loads(refused.response.body or b"{}")["error"]
        assert error["error"] == "ORIGIN_DENIED" and error["hint"], error
        return refused.response.status_code


class TestPlace:
    @pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null"])
    def test_a_page_from_elsewhere_does_not_get_in(self, codeplane_server: Server, origin: str) -> None:
        assert asyncio.run(opened(codeplane_server, origin)) == 403

    def test_a_program_and_a_page_of_our_own_do(self, codeplane_server: Server) -> None:
        for origin in (None, codeplane_server.url):
            assert asyncio.run(opened(codeplane_server, origin)) == 101


async def test_events_arrive_and_are_resumed(codeplane_server: Server) -> None:
    from websockets.asyncio.client import connect

    async def read(after: int, count: int) -> list[int]:
        async with connect(address(codeplane_server)) as socket:
            await socket.send(json.dumps({"token": codeplane_server.token, "after": after}))
            return [json.loads(await socket.recv())["position"] for _ in range(count)]

    codeplane_server.call("session.create", description="x")
    first = await read(0, 2)
    assert first == [1, 2]
    assert await read(2, 1) == [3]


async def test_nobody_reads_without_a_token(codeplane_server: Server) -> None:
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    async def refused() -> tuple[str, int]:
        async with connect(address(codeplane_server)) as socket:
            await socket.send(json.dumps({"after": 0}))
            output = json.loads(await socket.recv())
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            return output["error"]["error"], closed.value.rcvd.code

    assert await refused() == ("UNAUTHORIZED", 4401)
