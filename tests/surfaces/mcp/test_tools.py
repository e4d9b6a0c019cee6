"""Which tools are listed, and how they are described."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from mcp import Client, MCPError

from codeplane.kernel.catalogue import Catalogue
from codeplane.kernel.errors import InvalidArgument
from codeplane.surfaces.mcp.tools import Tools
from tests.clients.fixture_operations import SCHEMA_2020_12, ConformanceOperations
from tests.harness import Server, make_repo, start
from tests.interaction.requirements import requirement

from .clients import ERAS, WAYS, Transport, connect_client, text_in
from .operations import SurfaceOperations

SNAPSHOT: Final = Path(__file__).parent / "snapshots" / "tools_list.json"
UPDATE: Final = "UPDATE_SNAPSHOTS"
LARGEST: Final = 12 * 1024
CORE: Final = (
    *("checkpoint", "explain_symbol", "git_diff", "git_status", "map_repo"),
    *("read_files", "refactor_rename", "search", "semantic_diff", "test_run", "undo", "write_files"),
)


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def listing(server: Server, toolset: str | None = None) -> str:
    """The tools as they go over the wire."""
    async with connect_client(server, toolset=toolset) as client:
        listed = await client.list_tools()
    tools = listed.model_dump(by_alias=True, mode="json", exclude_none=True)["tools"]
    return json.dumps(tools, separators=(",", ":"), ensure_ascii=False)


@requirement("MCP-04")
async def test_the_default_list_is_the_one_in_the_snapshot(codeplane_server: Server) -> None:
    """An agent reads this list in every session: a change of it is meant, or it is a mistake.

    `UPDATE_SNAPSHOTS=1 pytest tests/surfaces/mcp/test_tools.py` writes the list as it is now.
    """
    found = json.loads(await listing(codeplane_server))
    if os.environ.get(UPDATE) == "1":
        SNAPSHOT.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")

    assert found == json.loads(SNAPSHOT.read_text()), f"run it with {UPDATE}=1 if this was meant"


@requirement("MCP-04")
async def test_the_default_list_is_small(codeplane_server: Server) -> None:
    default, everything = await listing(codeplane_server), await listing(codeplane_server, "all")

    print(f"tools/list: {len(default.encode())} bytes by default, {len(everything.encode())} bytes for all")
    assert len(default.encode()) < LARGEST


@requirement("MCP-04")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_toolsets_and_families_are_chosen_by_name(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        assert await names(client) == sorted(CORE)
    async with connect_client(codeplane_server, way=way, toolset="session,core") as client:
        session = [f"session_{name}" for name in ("close", "configure", "create", "info", "replay")]
        assert await names(client) == sorted([*CORE, *session])
    async with connect_client(codeplane_server, way=way, toolset="all") as client:
        assert {"ledger_events", "session_info", "status", "task_list"} <= set(await names(client))


@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_an_unknown_toolset_is_an_error_that_names_the_known_ones(
    way: Transport, codeplane_server: Server
) -> None:
    async with connect_client(codeplane_server, way=way, toolset="core,nonsense") as client:
        with pytest.raises(MCPError) as caught:
            await client.list_tools()

    assert caught.value.error.code == -32602
    assert "'nonsense'" in caught.value.error.message
    hint = caught.value.error.message.partition("hint: use ")[2].partition(", or several")[0].split(", ")
    assert hint[0] == "all"
    assert hint[1:] == sorted(hint[1:])
    assert {"core", "git", "search", "approval", "write_files"} < set(hint)


@pytest.fixture(scope="module")
def curtailed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose owner switched off what can be switched off."""
    off = ("refactor.enabled=false", "shell.enabled=false", "web.enabled=false")
    server = start(make_repo(tmp_path_factory.mktemp("off") / "repo"), overrides=off)
    yield server
    server.stop()


@requirement("MCP-12")
@pytest.mark.parametrize("way", WAYS, ids=str)
async def test_a_tool_that_is_switched_off_is_not_listed_and_says_so_when_called(
    way: Transport, curtailed: Server
) -> None:
    off = {"refactor_rename": "refactor", "run_bash": "shell", "web_open": "web", "scip_status": "refactor"}
    async with connect_client(curtailed, way=way, toolset="all") as client:
        assert not off.keys() & set(await names(client))
        for tool, section in off.items():
            answer = await client.call_tool(tool, {})
            assert answer.is_error
            assert f"is switched off by {section}.enabled: false\nhint: the owner" in text_in(answer)
            assert f"set {section}.enabled: true in .codeplane/config.yaml" in text_in(answer)
    async with connect_client(curtailed, way=way, toolset="refactor") as client:
        with pytest.raises(MCPError, match=r"refactor is switched off by refactor\.enabled: false"):
            await client.list_tools()
    async with connect_client(curtailed, way=way, toolset="refactor,core") as client:
        assert await names(client) == sorted({*CORE} - {"refactor_rename"})


@pytest.mark.parametrize("toolset", ("Fixture", " fixture , ", "fixture,,fixture", ",", "", None))
def test_the_spelling_of_toolsets_is_forgiven(toolset: str | None) -> None:
    tools = Tools(Catalogue([SurfaceOperations(), ConformanceOperations()]), default_toolset="fixture")

    listed = [tool.name for tool in tools.list_tools(toolset, structured=False)]

    assert listed
    assert all(name.startswith("fixture_") for name in listed)


def test_an_unknown_default_is_found_out_too() -> None:
    tools = Tools(Catalogue([SurfaceOperations()]), default_toolset="nonsense")

    with pytest.raises(InvalidArgument) as caught:
        tools.list_tools(None, structured=False)

    assert caught.value.details == {"unknown": ["nonsense"], "known": ["all", "fixture"]}


@pytest.mark.parametrize("era", ERAS)
async def test_streams_are_not_tools(era: str, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=Transport(transport="http", era=era)) as client:
        listed = await names(client)

    assert "fixture_answer" in listed
    assert not {"ledger_watch", "fixture_ticks"} & set(listed)


async def test_output_schemas_are_listed_for_programs_alone(fixture_server: Server) -> None:
    async with connect_client(fixture_server) as client:
        assert [tool for tool in (await client.list_tools()).tools if tool.output_schema] == []
    async with connect_client(fixture_server, structured=True) as client:
        assert [tool for tool in (await client.list_tools()).tools if not tool.output_schema] == []


async def test_hints_say_what_a_tool_can_do(fixture_server: Server) -> None:
    async with connect_client(fixture_server) as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}

    reported = {
        name: (found.read_only_hint, found.destructive_hint, found.open_world_hint)
        for name, found in hints.items()
        if found is not None
    }
    assert reported["fixture_answer"] == (True, None, False)
    assert reported["fixture_write"] == (None, False, False)
    assert reported["fixture_destroy"] == (None, True, False)
    assert reported["fixture_send"] == (None, False, True)
    assert reported["fixture_shell"] == (None, True, True)


async def test_mutations_take_an_idempotency_key_and_reads_do_not(fixture_server: Server) -> None:
    async with connect_client(fixture_server) as client:
        schemas = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    assert schemas["fixture_write"]["properties"]["idempotency_key"] == {"type": "string"}
    assert "idempotency_key" not in schemas["fixture_answer"]["properties"]


def test_a_schema_of_an_operations_own_is_listed_as_it_is() -> None:
    tools = Tools(Catalogue([ConformanceOperations()]), default_toolset="all")

    assert tools.input_schema("json_schema_2020_12_tool") == SCHEMA_2020_12
    assert tools.input_schema("no_such_tool") is None
