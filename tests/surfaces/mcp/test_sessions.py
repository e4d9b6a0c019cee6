"""Which CodePlane session a client's calls run in, and when it ends."""

from __future__ import annotations

import anyio.to_thread
import httpx2
import pytest
from mcp import Client

from codeplane.kernel.ids import new_id
from codeplane.kernel.json import JsonObject
from tests.harness import Server
from tests.interaction.requirements import requirement

from .clients import (
    INITIALIZE,
    LEGACY,
    MODERN,
    WAYS,
    RawStream,
    Transport,
    call,
    connect_client,
    failure_of,
    meta,
    request,
    session_of,
    text_of,
    wait_for_close,
    wait_for_event,
)

OLD = Transport(transport="http", era=LEGACY)
NEW = Transport(transport="http", era=MODERN)
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


async def is_open(client: Client, session_id: str) -> bool:
    result = await client.call_tool("session_info", {"session_id": session_id})
    return not result.is_error


@requirement("MCP-10")
@pytest.mark.parametrize("way", [way for way in WAYS if way != NEW], ids=str)
async def test_each_connection_has_a_session_of_its_own(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as one, connect_client(codeplane_server, way=way) as other:
        first, second = await session_of(one), await session_of(other)

        assert first != second
        assert await session_of(one) == first
        assert await session_of(other) == second


async def test_modern_requests_are_told_apart_by_the_clients_name(codeplane_server: Server) -> None:
    name, another = new_id("client"), new_id("client")
    async with (
        connect_client(codeplane_server, way=NEW, name=name) as one,
        connect_client(codeplane_server, way=NEW, name=name) as same,
        connect_client(codeplane_server, way=NEW, name=another) as other,
    ):
        assert await session_of(one) == await session_of(same)
        assert await session_of(one) != await session_of(other)


async def test_modern_requests_are_told_apart_by_a_header_of_our_own(codeplane_server: Server) -> None:
    here, there = {"x-codeplane-connection": new_id("a")}, {"x-codeplane-connection": new_id("b")}
    async with (
        connect_client(codeplane_server, way=NEW, headers=here, name="one") as one,
        connect_client(codeplane_server, way=NEW, headers=here, name="two") as same,
        connect_client(codeplane_server, way=NEW, headers=there, name="one") as other,
    ):
        assert await session_of(one) == await session_of(same)
        assert await session_of(one) != await session_of(other)


async def test_a_session_header_means_nothing_in_the_modern_era(codeplane_server: Server) -> None:
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as http:
        answered = await http.post(codeplane_server.mcp_url, json=INITIALIZE, headers=JSON)
        legacy = answered.headers["mcp-session-id"]
        headers = {**JSON, "mcp-session-id": legacy, "mcp-protocol-version": "2025-11-25"}
        response = await http.post(codeplane_server.mcp_url, json=call("session_info"), headers=headers)
        own = response.text.partition('"session_id":"')[2].partition('"')[0]
        headers = {**headers, "mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": "session_info"}
        response = await http.post(codeplane_server.mcp_url, json=call("session_info", era=MODERN), headers=headers)
        other = response.text.partition('"session_id":"')[2].partition('"')[0]

    assert own.startswith("sess_")
    assert other.startswith("sess_")
    assert own != other


async def test_no_header_moves_a_byte_stream_into_another_session(codeplane_server: Server) -> None:
    mine = {"x-codeplane-connection": new_id("mine")}
    async with connect_client(codeplane_server, way=NEW, headers=mine) as client:
        other = await session_of(client)
    stream = await RawStream.open(
        codeplane_server,
        headers=[f"x-codeplane-connection: {mine['x-codeplane-connection']}", "mcp-session-id: forged"],
    )
    await stream.send(call("session_info"))
    answer = await stream.answer(1)
    stream.vanish()

    assert other not in str(answer)
    own = str(answer["result"]["_meta"]["codeplane/meta"]["session_id"])  # type: ignore[index,call-overload]  # plain JSON
    assert await wait_for_close(codeplane_server, own) == {"reason": "disconnect"}


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_session_can_be_joined_by_its_id(way: Transport, codeplane_server: Server) -> None:
    async with (
        connect_client(codeplane_server, name="host") as host,
        connect_client(codeplane_server, way=way, name=new_id("guest")) as guest,
    ):
        theirs, own = await session_of(host), await session_of(guest)
        joined = meta(await guest.call_tool("status", {"session_id": theirs}))

        assert joined["session_id"] == theirs
        assert await session_of(guest) == own


async def test_joining_what_is_not_there_or_closed_is_an_error(codeplane_server: Server) -> None:
    async with connect_client(codeplane_server) as client:
        assert (await failure_of(client, "status", session_id="sess_nobody")).startswith("SESSION_NOT_FOUND: ")
        session = await session_of(client)
        await text_of(client, "session_close")

        assert (await failure_of(client, "status", session_id=session)).startswith("SESSION_CLOSED: ")
        assert await session_of(client) != session


async def test_delete_ends_the_session_before_it_is_answered(codeplane_server: Server) -> None:
    async with connect_client(codeplane_server) as witness:
        async with connect_client(codeplane_server) as client:
            session = await session_of(client)
            assert await is_open(witness, session)

        # Leaving the client sends DELETE and waits for its answer.
        assert not await is_open(witness, session)
    assert await wait_for_close(codeplane_server, session) == {"reason": "disconnect"}


async def test_deleting_somebody_elses_session_needs_its_id(codeplane_server: Server) -> None:
    async with connect_client(codeplane_server) as client, httpx2.AsyncClient(trust_env=False) as http:
        session = await session_of(client)
        answered = await http.delete(codeplane_server.mcp_url, headers={**JSON, "mcp-session-id": "forged"})

        assert answered.status_code == 404
        assert await is_open(client, session)


@requirement("MCP-10")
@pytest.mark.parametrize("era", (LEGACY, MODERN))
async def test_the_end_of_stdio_ends_the_session(era: str, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=Transport(transport="stdio", era=era)) as client:
        session = await session_of(client)

    assert await wait_for_close(codeplane_server, session) == {"reason": "disconnect"}


async def test_sessions_tell_which_client_they_belong_to(codeplane_server: Server) -> None:
    name = f"somebody\n{new_id('x')}"
    async with connect_client(codeplane_server, name=name) as client:
        session = await session_of(client)

    event = await anyio.to_thread.run_sync(
        lambda: wait_for_event(codeplane_server, "session.opened", client=name.replace("\n", "?"))
    )
    assert event["session_id"] == session
    assert event["payload"]["surface"] == "mcp"  # type: ignore[index,call-overload]  # plain JSON


async def test_a_request_id_given_over_http_is_found_in_the_answer(codeplane_server: Server) -> None:
    headers = {
        **JSON,
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": "status",
        "x-request-id": "mine-1",
    }
    async with httpx2.AsyncClient(trust_env=False) as http:
        params: JsonObject = {"name": "status", "arguments": {}}
        body = request("tools/call", params, era=MODERN)
        answered = await http.post(codeplane_server.mcp_url, json=body, headers=headers)

    assert answered.json()["result"]["_meta"]["codeplane/meta"]["request_id"] == "mine-1"
