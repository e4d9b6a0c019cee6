"""Tools that come and go: clients of both generations hear of it, list them again and call them."""

from __future__ import annotations

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.subscriptions import ToolsListChanged

from tests.harness import Server
from tests.interaction.requirements import requirement

from .clients import ERAS, LEGACY, MODERN, Transport, connect_client, text_in

pytestmark = requirement("EXT-02")


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("era", ERAS)
async def test_a_declared_tool_is_listed_called_and_gone(own_server: Server, era: str) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    async with connect_client(own_server, way=Transport(transport="http", era=era), toolset="all") as client:
        before = await names(client)
        own_server.call("fixture.declare", name="echo", schema=schema)
        assert await names(client) - before == {"ext_fixture_echo"}
        (listed,) = [tool for tool in (await client.list_tools()).tools if tool.name == "ext_fixture_echo"]
        assert listed.input_schema["properties"]["x"] == {"type": "integer"}
        assert '"x":7' in text_in(await client.call_tool("ext_fixture_echo", {"x": 7}))
        assert (await client.call_tool("ext_fixture_echo", {"x": "seven"})).is_error
        own_server.call("fixture.remove", name="echo")
        assert await names(client) == before


async def test_sessions_are_notified(own_server: Server) -> None:
    heard = anyio.Event()

    async def listen(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            heard.set()

    way = Transport(transport="http", era=LEGACY)
    async with connect_client(own_server, way=way, toolset="all", on_message=listen) as client:
        assert client.server_capabilities.tools is not None and client.server_capabilities.tools.list_changed
        await names(client)
        own_server.call("fixture.declare", name="heard")
        with anyio.fail_after(60):
            await heard.wait()
        assert "ext_fixture_heard" in await names(client)


async def test_listeners_of_the_newer_protocol_are_notified_of_tools_alone(own_server: Server) -> None:
    way = Transport(transport="http", era=MODERN)
    async with (
        connect_client(own_server, way=way, toolset="all") as client,
        client.listen(tools_list_changed=True, resources_list_changed=True) as listening,
    ):
        assert listening.honored.tools_list_changed and not listening.honored.resources_list_changed
        await anyio.to_thread.run_sync(lambda: own_server.call("fixture.declare", name="listened"))
        with anyio.fail_after(60):
            event = await anext(aiter(listening))
        assert isinstance(event, ToolsListChanged) and "ext_fixture_listened" in await names(client)


async def test_a_call_of_a_tool_that_vanishes_ends_with_a_typed_error(own_server: Server) -> None:
    schema = {"type": "object", "properties": {"wait": {"type": "boolean"}}}
    own_server.call("fixture.declare", name="vanishing", schema=schema)
    async with connect_client(own_server, toolset="all") as client, anyio.create_task_group() as group:
        answers: list[types.CallToolResult] = []

        async def ask() -> None:
            answers.append(await client.call_tool("ext_fixture_vanishing", {"wait": True}))

        group.start_soon(ask)
        await anyio.to_thread.run_sync(lambda: own_server.call("fixture.called"))
        own_server.call("fixture.remove", name="vanishing")
    assert answers[0].is_error and text_in(answers[0]).startswith("OPERATION_GONE")
