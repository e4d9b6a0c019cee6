"""The handshake: what is answered before it, twice, and for other versions."""

import pytest

from tests.harness import Server
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, AcpError, acp_client

pytestmark = requirement("ACP-04")


async def test_what_the_agent_can_do(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        answer = await client.call("initialize", HELLO)
    assert answer["protocolVersion"] == 1 and answer["authMethods"] == []
    assert answer["agentInfo"]["name"] == "codeplane"
    capabilities = answer["agentCapabilities"]
    assert capabilities["loadSession"] is True
    assert capabilities["promptCapabilities"] == {"image": False, "audio": False, "embeddedContext": True}
    assert set(capabilities["sessionCapabilities"]) == {"list", "resume", "close", "delete"}


@pytest.mark.parametrize("version", [0, 2, 7, 65_535])
async def test_another_version_is_answered_with_ours(plain_server: Server, version: int) -> None:
    async with acp_client(plain_server) as client:
        assert (await client.call("initialize", {**HELLO, "protocolVersion": version}))["protocolVersion"] == 1


@pytest.mark.parametrize("params", [{}, {"protocolVersion": "1"}, {"protocolVersion": -1}, {"protocolVersion": None}])
async def test_a_version_that_is_none_is_refused(plain_server: Server, params: dict[str, object]) -> None:
    async with acp_client(plain_server) as client:
        with pytest.raises(AcpError) as refused:
            await client.call("initialize", params)
        assert refused.value.code == -32602
        assert (await client.call("initialize", HELLO))["protocolVersion"] == 1


async def test_before_the_handshake_nothing_is_answered(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        for method in ("session/new", "session/prompt", "session/list", "unknown"):
            with pytest.raises(AcpError) as refused:
                await client.call(method, {"cwd": str(plain_server.repo), "mcpServers": []})
            assert refused.value.name == "NOT_INITIALIZED"
        await client.notify("session/cancel", {"sessionId": "x"})
        assert (await client.call("initialize", HELLO))["protocolVersion"] == 1


async def test_a_second_handshake_is_refused_and_changes_nothing(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        with pytest.raises(AcpError) as refused:
            await client.call("initialize", {**HELLO, "clientInfo": {"name": "other", "version": "1"}})
        assert refused.value.name == "NOT_INITIALIZED"
        assert (await client.prompt(session, "greet"))["stopReason"] == "end_turn"


async def test_nobody_has_to_authenticate(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        await client.call("initialize", HELLO)
        with pytest.raises(AcpError) as refused:
            await client.call("authenticate", {"methodId": "token"})
        assert refused.value.code == -32602


async def test_unknown_methods_and_notifications(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        await client.call("initialize", HELLO)
        with pytest.raises(AcpError) as refused:
            await client.call("session/dream", {})
        assert refused.value.code == -32601
        await client.notify("session/dream", {})
        await client.notify("$/cancel_request", {"requestId": {"no": "id"}})
        assert "sessions" in await client.call("session/list")


@requirement("ACP-11")
async def test_version_2_is_spoken_only_where_it_is_offered_and_asked_for(plain_server: Server) -> None:
    hello = {"protocolVersion": 2, "info": {"name": "draft", "version": "1"}, "capabilities": {}}
    for query, params, version in (("", hello, 1), ("?v2=true", HELLO, 1), ("?v2=true", hello, 2)):
        async with acp_client(plain_server, query=query) as client:
            assert (await client.call("initialize", params))["protocolVersion"] == version
