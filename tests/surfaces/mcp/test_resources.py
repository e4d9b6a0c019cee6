"""What clients can attach: the log, its tasks, the documentation; and addresses that lead nowhere."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import mcp_types as types
import pytest
from mcp import Client, MCPError

from codeplane.kernel.actor import Caller
from codeplane.kernel.ids import new_id
from codeplane.surfaces.mcp.resources import DocResources, Resources
from tests.harness import Server
from tests.interaction.requirements import requirement

from .clients import WAYS, Transport, connect_client, meta, session_of, wait_for_payload

each_way = pytest.mark.parametrize("way", WAYS, ids=str)
STREAMS = "codeplane://ledger/streams/"
NOBODY = Caller(surface="mcp")


async def text_at(client: Client, uri: str) -> str:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert str(content.uri) == uri
    return content.text


@requirement("MCP-09")
@each_way
async def test_the_log_and_the_tasks_are_listed_and_read(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way, name=new_id("reader")) as client:
        session = await session_of(client)
        await wait_for_payload(codeplane_server, "session.opened", session=session)
        listed = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
        templates = (await client.list_resource_templates()).resource_templates

        assert {"codeplane://ledger/recent", "codeplane://ledger/tasks"} <= set(listed)
        assert all(resource.name and resource.description and resource.mime_type for resource in listed.values())
        assert [template.uri_template for template in templates] == [STREAMS + "{stream}"]
        assert f"session/{session}#1 session.opened" in await text_at(client, "codeplane://ledger/recent")
        assert "task_" in await text_at(client, "codeplane://ledger/tasks")


@requirement("MCP-09")
@each_way
async def test_every_page_of_the_documentation_is_listed_and_read(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        pages = [
            resource
            for resource in (await client.list_resources()).resources
            if str(resource.uri).startswith("codeplane://docs/")
        ]
        assert "reference/operations" in [page.name for page in pages]
        for page in pages:
            assert await text_at(client, str(page.uri))


@each_way
async def test_a_stream_is_read_by_its_name_plain_or_encoded(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        task = str(meta(await client.call_tool("status", {}))["task_id"])
        session = await session_of(client)
        await wait_for_payload(codeplane_server, "session.opened", session=session)
        plain = await text_at(client, f"{STREAMS}session/{session}")

        assert f"session/{session}#1 session.opened" in plain
        assert await text_at(client, STREAMS + quote(f"session/{session}", safe="")) == plain
        assert "task.opened" in await text_at(client, f"{STREAMS}task%2f{task}")


NOWHERE = (
    "codeplane://docs/../../etc/passwd",
    "codeplane://docs/..%2F..%2Fetc%2Fpasswd",
    "codeplane://docs//etc/passwd",
    "codeplane://docs/../README",
    "codeplane://docs/reference/operations.md",
    "codeplane://docs/",
    "codeplane://docs/%00",
    "codeplane://ledger/streams/",
    "codeplane://ledger/streams/nothing/here",
    "codeplane://ledger/streams/%FF%FE",
    "codeplane://ledger/streams/task/task_' OR 1=1 --",
    "codeplane://ledger/nonsense",
    "codeplane://",
    "file:///etc/passwd",
    "nonsense",
    "",
)


@each_way
async def test_addresses_that_lead_nowhere_are_said_to(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        for uri in NOWHERE:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert caught.value.error.code == -32602, uri
            assert caught.value.error.data == {"uri": uri}
            assert caught.value.error.message.startswith(f"NOT_FOUND: there is no resource {uri}")
        assert await text_at(client, "codeplane://ledger/tasks")


async def test_a_refusal_of_the_door_is_told_as_such(codeplane_server: Server) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        async with connect_client(codeplane_server, headers={"authorization": "Bearer wrong"}) as client:
            await client.read_resource("codeplane://ledger/tasks")

    assert caught.group_contains(MCPError, match="^UNAUTHORIZED: ")


async def test_pages_with_odd_names_have_addresses_that_can_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "a b").mkdir(parents=True)
    (folder / "a b" / "ü%41?.md").write_text("some text\n# A title\n")
    (folder / "secret.txt").write_text("no page")
    (tmp_path / "outside.md").write_text("# outside")
    resources = Resources([DocResources(folder)])

    [page] = resources.list_resources()

    assert page.description == "A title"
    [content] = (await resources.read(str(page.uri), NOBODY)).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.text == "some text\n# A title\n"


async def test_without_documentation_there_is_none(tmp_path: Path) -> None:
    assert Resources([DocResources(tmp_path / "missing")]).list_resources() == []
