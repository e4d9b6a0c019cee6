"""What a model and a program get to read: results, errors, warnings."""

from __future__ import annotations

import re

import jsonschema  # type: ignore[import-untyped]  # it comes with the SDK, without types
import pytest
from mcp import MCPError

from codeplane.kernel.envelope import Meta, Outcome
from codeplane.kernel.json import JsonObject
from codeplane.surfaces.mcp.tools import call_result
from tests.harness import Server, cpl
from tests.interaction.requirements import requirement

from .clients import ERAS, WAYS, Transport, connect_client, failure_of, meta, text_in, text_of
from .operations import Sentence

each_way = pytest.mark.parametrize("way", WAYS, ids=str)


@requirement("MCP-05")
@each_way
async def test_an_answer_is_compact_text_alone(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        result = await client.call_tool("status", {})

    assert result.structured_content is None
    assert text_in(result).startswith(f"repo {codeplane_server.repo} at ")
    assert "{" not in text_in(result)


@requirement("MCP-05")
@each_way
async def test_programs_get_structure_that_fits_the_schema(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way, toolset="all", structured=True) as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for tool, arguments in (
            ("status", {}),
            ("session_info", {}),
            ("task_list", {}),
            ("ledger_events", {"limit": 5}),
            ("operation_list", {"name": "status"}),
        ):
            result = await client.call_tool(tool, arguments)

            schema = schemas[tool]
            assert schema is not None
            jsonschema.validate(result.structured_content, schema)
            assert text_in(result)


async def test_null_is_told_and_allowed_in_structure(fixture_server: Server) -> None:
    async with connect_client(fixture_server, structured=True) as client:
        result = await client.call_tool("test_simple_text", {})
        answer = await client.call_tool("fixture_answer", {"size": 1})

    assert result.structured_content == {"said": "This is a simple text response for testing."}
    assert answer.structured_content == {"said": "x", "note": None}


@each_way
async def test_every_answer_carries_its_meta(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        found = meta(await client.call_tool("status", {}))

    assert str(found["session_id"]).startswith("sess_")
    assert str(found["task_id"]).startswith("task_")
    assert str(found["call_id"]).startswith("call_")
    assert found["task_state"] == "OPEN"
    assert "warnings" not in found


@requirement("MCP-06")
@each_way
async def test_a_failure_is_text_with_its_name_and_what_to_do(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        result = await client.call_tool("ledger_events", {"limit": 0})

    assert result.is_error
    assert result.structured_content is None
    assert text_in(result).startswith("INVALID_ARGUMENT: ledger.events: limit: ")
    assert "\nhint: send: ledger.events(" in text_in(result)


@each_way
async def test_programs_get_the_error_object(way: Transport, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server, way=way, structured=True) as client:
        result = await client.call_tool("session_info", {"session_id": "sess_nobody"})

    assert result.is_error
    assert text_in(result).startswith("SESSION_NOT_FOUND: ")
    assert result.structured_content is not None
    assert result.structured_content["error"] == "SESSION_NOT_FOUND"
    assert result.structured_content["code"] == 6002
    assert result.structured_content["retryable"] is False
    assert result.structured_content["hint"] in text_in(result)


async def test_a_bug_is_an_error_of_the_call_and_not_of_the_connection(fixture_server: Server) -> None:
    async with connect_client(fixture_server) as client:
        assert (await failure_of(client, "fixture_crash")).startswith("INTERNAL: ")
        assert await text_of(client, "fixture_answer", size=2) == "xx"


@each_way
@pytest.mark.parametrize("structured", (False, True))
async def test_names_that_are_no_text_are_written_out(structured: bool, way: Transport, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=way, structured=structured) as client:
        result = await client.call_tool("fixture_odd", {})
        assert await text_of(client, "fixture_answer", size=2) == "xx"

    assert text_in(result).startswith("INVALID_ARGUMENT: cannot read a\\udcff\n")
    assert text_in(result).endswith("\nwarning: skipped b\\udc80")
    assert meta(result)["warnings"] == ["skipped b\\udc80"]
    if structured:
        assert result.structured_content is not None
        assert result.structured_content["details"] == {"paths": ["a\\udcff"]}


@requirement("MCP-06")
@each_way
async def test_an_unknown_tool_is_a_protocol_error_with_the_nearest_name(
    way: Transport, codeplane_server: Server
) -> None:
    async with connect_client(codeplane_server, way=way) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("sesion_inf", {})

    assert caught.value.error.code == -32602
    named, hint = caught.value.error.message.split("\n")
    assert named == "UNKNOWN_OPERATION: there is no tool 'sesion_inf'"
    assert hint.startswith("hint: did you mean session_info")
    assert caught.value.error.data["error"] == "UNKNOWN_OPERATION"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("grep", "search"),
        ("rg", "search"),
        ("ls", "list_dir or map_repo"),
        ("Glob", "list_dir or map_repo"),
        ("cat", "read_files"),
        ("sed", "write_files"),
        ("edit_file", "write_files"),
        ("Bash", "run_bash"),
    ],
)
async def test_a_tool_of_other_programs_is_answered_with_ours(name: str, meant: str, codeplane_server: Server) -> None:
    async with connect_client(codeplane_server) as client:
        with pytest.raises(MCPError, match=re.escape(f"did you mean {meant}?")):
            await client.call_tool(name, {})


async def test_an_agent_is_not_led_to_what_is_for_people(codeplane_server: Server) -> None:
    async with connect_client(codeplane_server) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("approval_aprove", {})
    assert "approval_approve" not in caught.value.error.message
    # The owner is.
    assert "did you mean approval.approve" in cpl("call", "approval.aprove", cwd=codeplane_server.repo).stderr


async def test_only_a_secret_that_would_be_seen_is_told_to_be_left_out(codeplane_server: Server) -> None:
    token = "ghp_" + "a1B2" * 9
    new = {"path": "notes.txt", "content": "one\n"}
    edit = {"path": "notes.txt", "old_text": "one", "new_text": token}
    for structured in (False, True):
        async with connect_client(codeplane_server, structured=structured) as client:
            await client.call_tool("write_files", {"edits": [new]})
            written = await client.call_tool("write_files", {"edits": [edit]})
            read = await client.call_tool("read_files", {"paths": ["notes.txt"]})
            for _ in range(2):
                await client.call_tool("undo", {})
        # The text of the answer names the file alone; its structure holds what was written.
        warned = "what looks like a secret is left out" in text_in(written)
        assert warned == structured == ("[redacted]" in str(written.structured_content)), text_in(written)
        assert "[redacted]" in text_in(read) and "what looks like a secret is left out" in text_in(read)


async def test_an_unknown_tool_without_a_near_one_says_where_they_are_listed(codeplane_server: Server) -> None:
    async with connect_client(codeplane_server) as client:
        with pytest.raises(MCPError, match="see tools/list"):
            await client.call_tool("zzzzzzzzzzzz", {})


async def test_an_unknown_operation_that_a_tool_is_asked_about_is_not_an_unknown_tool(
    codeplane_server: Server,
) -> None:
    async with connect_client(codeplane_server) as client:
        text = await failure_of(client, "operation_list", name="no.such.operation")

    assert text.startswith("UNKNOWN_OPERATION: there is no operation 'no.such.operation'")


async def test_tools_are_found_by_their_dotted_names_too(codeplane_server: Server) -> None:
    async with connect_client(codeplane_server) as client:
        assert "session sess_" in await text_of(client, "session.info")


@each_way
@pytest.mark.parametrize(
    "arguments",
    (
        {"paths": ["a", "b"], "max_depth": 3},
        {"path": ["a", "b"], "maxDepth": 3},
        {"paths": '["a", "b"]', "max-depth": "3", "deep": None},
        {"Paths": ["a", "b"], "max_depth": 3.0, "deep": "false"},
    ),
    ids=("exact", "camel case, one for many", "JSON in a string", "capitals, text for numbers"),
)
async def test_arguments_are_forgiven_where_their_meaning_is_plain(
    arguments: dict[str, object], way: Transport, fixture_server: Server
) -> None:
    async with connect_client(fixture_server, way=way) as client:
        assert await text_of(client, "fixture_paths", **arguments) == "['a', 'b'] 3 False"
        assert await text_of(client, "fixture_paths", path="a") == "['a'] 1 False"


async def test_arguments_that_nobody_understands_are_explained(fixture_server: Server) -> None:
    async with connect_client(fixture_server) as client:
        text = await failure_of(client, "fixture_paths", pathes=["a"], depth=3)

    assert "'paths' is required" in text
    assert "unknown argument 'pathes'; did you mean 'paths'?" in text
    assert "unknown argument 'depth'; did you mean 'max_depth'?" in text
    assert re.search(r"hint: send: fixture\.paths\(paths: .*, max_depth\?: int, deep\?: bool\)", text)


async def test_calling_a_stream_says_how_it_is_watched(fixture_server: Server) -> None:
    async with connect_client(fixture_server) as client:
        text = await failure_of(client, "fixture_ticks")

    assert text == ("INVALID_ARGUMENT: fixture.ticks is a stream\nhint: watch it with: cpl call fixture.ticks --follow")


@requirement("MCP-08")
@each_way
async def test_a_deprecated_tool_warns_in_meta_and_in_the_text(way: Transport, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=way) as client:
        result = await client.call_tool("fixture_old", {})

    assert meta(result)["warnings"] == ["fixture_old is deprecated: use fixture_answer"]
    assert text_in(result) == "still here\nwarning: fixture_old is deprecated: use fixture_answer"


@pytest.mark.parametrize("era", ERAS)
async def test_a_repeated_key_gives_the_first_result_and_says_so(era: str, fixture_server: Server) -> None:
    async with connect_client(fixture_server, way=Transport(transport="http", era=era)) as client:
        arguments = {"name": "once", "idempotency_key": f"key-{era}"}
        first = await client.call_tool("fixture_write", arguments)
        again = await client.call_tool("fixture_write", arguments)
        other = await client.call_tool("fixture_write", {**arguments, "name": "twice"})

    assert text_in(again) == f"{text_in(first)}\nnote: this is the first result of the same idempotency_key"
    assert meta(again)["replayed"] is True
    assert other.is_error
    assert text_in(other).startswith("IDEMPOTENCY_CONFLICT: ")


def test_signals_are_told_in_a_line_each() -> None:
    signals: tuple[JsonObject, ...] = (
        {"kind": "repeated_failure", "note": "the same failure 3 times"},
        {"kind": "no_progress", "count": 3, "note": None},
    )
    answer = Meta(request_id="req", timestamp_ms=1, call_id="call", signals=signals)

    result = call_result(Outcome(operation=None, meta=answer, result=Sentence(said="done")), structured=False)

    assert text_in(result).split("\n") == [
        "done",
        "signal: the same failure 3 times",
        'signal: {"kind":"no_progress","count":3}',
    ]
