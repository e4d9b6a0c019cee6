"""Prompts that a model answers: text, thoughts, tools with their places and changes, plans, usage, and how they end."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, AcpClient, AcpError, acp_client, prompt_params
from tests.surfaces.acp.conftest import FILES
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ScriptedProvider,
    answer,
    chunks,
    hang,
    openai_chunk,
    openai_text,
    openai_tool,
    scripted_provider,
    status,
)

pytestmark = requirement("ACP-06")

EDIT: JsonObject = {
    "edits": [{"path": "greeting.py", "old_text": "    return name", "new_text": "    return f'hello {name}'"}]
}


@asynccontextmanager
async def talking(
    tmp_path: Path, *script: Act, settings: tuple[str, ...] = (), query: str = ""
) -> AsyncIterator[tuple[AcpClient, str, Server, ScriptedProvider]]:
    """A client with a session, on a server of its own whose model answers by a script."""
    repo = make_repo(tmp_path / "repo", FILES)
    with scripted_provider(*script) as provider:
        server = start(repo, overrides=[providers(openai("local", provider.url)), *QUICK, *settings])
        try:
            async with acp_client(server, query=query) as client:
                yield client, await client.open(repo), server, provider
        finally:
            server.stop()


def only(client: AcpClient, kind: str) -> list[dict[str, Any]]:
    return [update for update in client.updates if update["sessionUpdate"] == kind]


async def test_text_streams_and_usage_is_told(tmp_path: Path) -> None:
    async with talking(tmp_path, answer(openai_text("Hello ", "there."))) as (client, session, _, _):
        result = await client.prompt(session, "hi")
        assert result["stopReason"] == "end_turn" and client.text() == "Hello there."
        assert [one["used"] for one in only(client, "usage_update")] == [15]
        assert only(client, "usage_update")[0]["size"] == 100_000
        assert len({one["messageId"] for one in only(client, "agent_message_chunk")}) == 1


async def test_a_tool_that_edits_shows_its_place_and_its_diff(tmp_path: Path) -> None:
    script = answer(openai_tool("c", "write_files", EDIT, "I greet. ")), answer(openai_text("Done."))
    async with talking(tmp_path, *script) as (client, session, server, _):
        await client.prompt(session, "greet them")
        path = str(server.repo / "greeting.py")
        (call,) = only(client, "tool_call")
        assert (call["kind"], call["name"], call["status"]) == ("edit", "write_files", "pending")
        assert call["locations"] == [{"path": path}] and call["rawInput"] == EDIT
        states = [update.get("status") for update in only(client, "tool_call_update")]
        assert states == ["in_progress", "completed"]
        diff, text = only(client, "tool_call_update")[-1]["content"]
        assert (diff["type"], diff["path"]) == ("diff", path)
        assert "    return name\n" in diff["oldText"] and "hello {name}" in diff["newText"]
        assert text["type"] == "content"
        assert client.text() == "I greet. Done."
        assert {one["toolCallId"] for one in only(client, "tool_call_update")} == {call["toolCallId"]}


async def test_a_diff_has_lines_that_look_like_its_head(tmp_path: Path) -> None:
    """As comments of Lua, SQL and Haskell do, once they are removed."""
    created: JsonObject = {"edits": [{"path": "a.sql", "content": "-- old\nselect 1;\n"}]}
    edited: JsonObject = {"edits": [{"path": "a.sql", "content": "++ new\nselect 1;", "overwrite": True}]}
    script = [answer(openai_tool(name, "write_files", edit)) for name, edit in (("a", created), ("b", edited))]
    async with talking(tmp_path, *script, answer(openai_text("Done."))) as (client, session, _, _):
        await client.prompt(session, "change it")
        diffs = [one["content"][0] for one in only(client, "tool_call_update") if one.get("status") == "completed"]
        assert [(one["oldText"], one["newText"]) for one in diffs] == [
            (None, "-- old\nselect 1;\n"),
            ("-- old\nselect 1;\n", "++ new\nselect 1;"),
        ]


async def test_several_tools_are_a_plan(tmp_path: Path) -> None:
    calls: list[JsonObject] = [
        {"index": number, "id": f"c{number}", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(
            [("search", '{"query": "greet"}'), ("read_files", '{"paths": ["greeting.py"]}')]
        )
    ]
    two = chunks(openai_chunk({"tool_calls": calls}), openai_chunk({}, "tool_calls"), "data: [DONE]\n\n")
    async with talking(tmp_path, answer(two), answer(openai_text("Done."))) as (client, session, _, _):
        await client.prompt(session, "look around")
        assert [call["kind"] for call in only(client, "tool_call")] == ["search", "read"]
        plans = only(client, "plan")
        assert [entry["status"] for entry in plans[0]["entries"]] == ["pending", "pending"]
        assert [entry["status"] for entry in plans[-1]["entries"]] == ["completed", "completed"]
        assert plans[-1]["entries"][0]["content"] == "search: greet"


async def test_what_a_command_prints_is_shown_and_who_lets_it_run(tmp_path: Path) -> None:
    command: JsonObject = {"command": "echo one; echo two", "justification": "to see"}
    script = answer(openai_tool("c", "run_bash", command)), answer(openai_text("Done."))
    async with talking(tmp_path, *script, query="?toolset=all", settings=("shell.sandbox=off",)) as (
        client,
        session,
        server,
        _,
    ):
        prompted = await client.start("session/prompt", prompt_params(session, "run it"))
        action_id = await waiting_action(client)
        server.call("approval.approve", action_id=action_id)
        assert (await client.answer(prompted))["stopReason"] == "end_turn"
        assert only(client, "tool_call")[0]["kind"] == "execute"
        shown = [one["content"][-1]["content"]["text"] for one in only(client, "tool_call_update") if "content" in one]
        assert any(text.startswith("```console\none\ntwo") for text in shown), shown
        codes = [
            one["_meta"]["codeplane"].get("exitCode") for one in only(client, "tool_call_update") if "_meta" in one
        ]
        assert 0 in codes


async def test_a_loaded_session_shows_all_that_was_streamed(tmp_path: Path) -> None:
    """Text, thoughts, tools with diffs and output, a plan, an approval, usage, a failure and what was cancelled."""
    command: JsonObject = {"command": "echo one; echo two", "justification": "to see"}
    calls: list[JsonObject] = [
        {"index": number, "id": f"c{number}", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(
            [("search", '{"query": "greet"}'), ("read_files", '{"paths": ["nothing.py"]}')]
        )
    ]
    script = (
        answer(openai_tool("e", "write_files", EDIT, "I greet. ")),
        answer(chunks(openai_chunk({"tool_calls": calls}), openai_chunk({}, "tool_calls"), "data: [DONE]\n\n")),
        answer(openai_tool("r", "run_bash", command)),
        answer(openai_text(*(f"word{number} " for number in range(20))), pause_sec=0.06),
        hang(chunks(openai_chunk({"content": "Half "}))),
        status(400, '{"error": {"message": "no"}}'),
    )
    async with talking(tmp_path, *script, query="?toolset=all", settings=("shell.sandbox=off",)) as (
        client,
        session,
        server,
        _,
    ):
        prompted = await client.start("session/prompt", prompt_params(session, "do it all"))
        server.call("approval.approve", action_id=await waiting_action(client))
        assert (await client.answer(prompted))["stopReason"] == "end_turn"
        prompted = await client.start("session/prompt", prompt_params(session, "wait"))
        await client.until(lambda: "Half" in client.text())
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.answer(prompted))["stopReason"] == "cancelled"
        with pytest.raises(AcpError):
            await client.prompt(session, "fail")
        async with acp_client(server) as again:
            await again.call("initialize", HELLO)
            await again.call("session/load", {"sessionId": session, "cwd": str(server.repo), "mcpServers": []})
            assert again.text("user_message_chunk") == "do it allwaitfail"
            streamed, loaded = (_without(one, "available_commands_update") for one in (client, again))
            assert streamed == [one for one in loaded if one["update"]["sessionUpdate"] != "user_message_chunk"]
        kinds = {str(one["update"]["sessionUpdate"]) for one in streamed}
        assert kinds >= {"agent_message_chunk", "tool_call", "tool_call_update", "plan", "usage_update"}


def _without(client: AcpClient, kind: str) -> list[dict[str, Any]]:
    return [one for one in client.notices if one["update"]["sessionUpdate"] != kind]


async def waiting_action(client: AcpClient) -> str:
    """The id of the action that a turn waits for."""

    def found() -> str | None:
        ids = [one["_meta"]["codeplane"].get("actionId") for one in only(client, "tool_call_update") if "_meta" in one]
        return next(filter(None, ids), None)

    return str(await client.until(found))


class TestEnds:
    async def test_cancelled_while_the_model_answers(self, tmp_path: Path) -> None:
        script = hang(chunks(openai_chunk({"content": "Half "}))), answer(openai_text("Again."))
        async with talking(tmp_path, *script) as (client, session, _, _):
            prompted = await client.start("session/prompt", prompt_params(session, "hi"))
            await client.until(lambda: client.text() == "Half ")
            await client.notify("session/cancel", {"sessionId": session})
            assert (await client.answer(prompted))["stopReason"] == "cancelled"
            assert (await client.prompt(session, "again"))["stopReason"] == "end_turn"
            assert client.text() == "Half Again."

    async def test_cancelled_at_once_and_while_it_is_queued(self, tmp_path: Path) -> None:
        async with talking(tmp_path, hang()) as (client, session, _, _):
            first = await client.start("session/prompt", prompt_params(session, "one"))
            second = await client.start("session/prompt", prompt_params(session, "two"))
            await client.notify("session/cancel", {"sessionId": session})
            assert (await client.answer(first))["stopReason"] == "cancelled"
            assert (await client.answer(second))["stopReason"] == "cancelled"

    async def test_cancelled_when_nothing_runs(self, tmp_path: Path) -> None:
        async with talking(tmp_path, answer(openai_text("Hello."))) as (client, session, _, _):
            await client.notify("session/cancel", {"sessionId": session})
            assert (await client.prompt(session, "hi"))["stopReason"] == "end_turn"
            await client.notify("session/cancel", {"sessionId": session})
            await client.notify("session/cancel", {"sessionId": "thr_unknown"})
            await client.notify("session/cancel", {})
            assert (await client.prompt(session, "hi"))["stopReason"] == "end_turn"

    async def test_a_request_that_is_cancelled_says_so_and_its_turn_goes_on(self, tmp_path: Path) -> None:
        async with talking(tmp_path, hang(chunks(openai_chunk({"content": "Half "})))) as (client, session, _, _):
            prompted = await client.start("session/prompt", prompt_params(session, "hi"))
            await client.until(lambda: client.text() == "Half ")
            await client.notify("$/cancel_request", {"requestId": prompted})
            with pytest.raises(AcpError) as cancelled:
                await client.answer(prompted)
            assert cancelled.value.code == -32800
            await client.notify("session/cancel", {"sessionId": session})

    async def test_a_model_that_fails_is_an_error(self, tmp_path: Path) -> None:
        async with talking(tmp_path, status(401, "no")) as (client, session, _, _):
            with pytest.raises(AcpError) as failed:
                await client.prompt(session, "hi")
            assert (failed.value.code, failed.value.name) == (-32603, "PROVIDER_REJECTED")

    async def test_an_answer_that_was_cut_by_its_length(self, tmp_path: Path) -> None:
        async with talking(tmp_path, answer(openai_text("Half", finish="length"))) as (client, session, _, _):
            assert (await client.prompt(session, "hi"))["stopReason"] == "max_tokens"

    async def test_a_budget_that_is_used_up(self, tmp_path: Path) -> None:
        script = (
            answer(openai_tool("a", "search", {"query": "x"})),
            answer(openai_text("So far.")),
        )
        async with talking(tmp_path, *script, settings=("turns.max_tool_steps=1",)) as (client, session, _, _):
            assert (await client.prompt(session, "hi"))["stopReason"] == "max_turn_requests"
            assert client.text().endswith("So far.")

    async def test_closing_a_session_ends_its_turn(self, tmp_path: Path) -> None:
        async with talking(tmp_path, hang()) as (client, session, server, provider):
            prompted = await client.start("session/prompt", prompt_params(session, "hi"))
            await asyncio.to_thread(_until_asked, provider)
            await client.call("session/close", {"sessionId": session})
            assert (await client.answer(prompted))["stopReason"] == "cancelled"
            events = server.call("thread.events", thread_id=session)["result"]
            assert isinstance(events, dict) and isinstance(events["events"], list)
            assert events["events"][-1]["type"] == "turn.failed"

    async def test_a_client_that_leaves_in_the_middle_finds_the_end_later(self, tmp_path: Path) -> None:
        gate = threading.Event()
        parts = answer(openai_text("One ", "two ", "three."), gate=gate)
        async with talking(tmp_path, parts) as (client, session, server, provider):
            await client.start("session/prompt", prompt_params(session, "count", messageId="m"))
            await asyncio.to_thread(_until_asked, provider)
            await client.drop()
            gate.set()
            async with acp_client(server) as again:
                await again.call("initialize", HELLO)
                opening = {"sessionId": session, "cwd": str(server.repo), "mcpServers": []}
                meta = {"_meta": {"codeplane": {"cursor": "1.0"}}}
                await again.call("session/resume", {**opening, **meta})
                assert (await again.prompt(session, "count", messageId="m"))["stopReason"] == "end_turn"
                assert again.text() == "One two three."
                assert len(provider.requests) == 1


def _until_asked(provider: ScriptedProvider) -> None:
    until(lambda: provider.requests)


async def test_a_model_is_chosen_for_the_session(tmp_path: Path) -> None:
    repo = make_repo(tmp_path / "repo", FILES)
    with scripted_provider(answer(openai_text("Hello."))) as provider:
        server = start(repo, overrides=[providers(openai("local", provider.url, "small", "large")), *QUICK])
        try:
            async with acp_client(server) as client:
                await client.call("initialize", HELLO)
                new = await client.call("session/new", {"cwd": str(repo), "mcpServers": []})
                session = new["sessionId"]
                (model,) = [option for option in new["configOptions"] if option["id"] == "model"]
                assert model["category"] == "model" and model["currentValue"] == "default"
                assert [one["value"] for one in model["options"]] == ["default", "local/small", "local/large"]
                chosen: dict[str, Any] = {"sessionId": session, "configId": "model", "value": "local/large"}
                answered = await client.call("session/set_config_option", chosen)
                assert answered["configOptions"][1]["currentValue"] == "local/large"
                await client.prompt(session, "hi")
                assert provider.requests[-1].body["model"] == "large"
                for wrong in ({**chosen, "value": "local/huge"}, {**chosen, "configId": "colour"}):
                    with pytest.raises(AcpError) as refused:
                        await client.call("session/set_config_option", wrong)
                    assert refused.value.code == -32602
        finally:
            server.stop()


async def test_a_session_is_tightened_and_never_laxer_than_the_settings(tmp_path: Path) -> None:
    script = answer(openai_tool("c", "write_files", EDIT)), answer(openai_text("Done."))
    async with talking(tmp_path, *script) as (client, session, server, _):
        with pytest.raises(AcpError) as refused:
            await client.call("session/set_mode", {"sessionId": session, "modeId": "automatic"})
        assert refused.value.name == "POLICY_DENIED"
        with pytest.raises(AcpError) as refused:
            await client.call("session/set_mode", {"sessionId": session, "modeId": "wild"})
        assert refused.value.code == -32602
        await client.call("session/set_mode", {"sessionId": session, "modeId": "always"})
        await client.until(lambda: only(client, "current_mode_update"))
        prompted = await client.start("session/prompt", prompt_params(session, "greet them"))
        await client.until(lambda: [one for one in only(client, "tool_call_update") if "_meta" in one])
        waiting = only(client, "tool_call_update")[-1]
        assert waiting["status"] == "pending" and "cpl approvals approve" in waiting["content"][0]["content"]["text"]
        assert "return name\n" in (server.repo / "greeting.py").read_text()
        # Nobody is asked in a client that the owner did not allow; elsewhere it can be decided.
        assert not [message for message in client.heard if message.get("method") == "session/request_permission"]
        server.call("approval.approve", action_id=waiting["_meta"]["codeplane"]["actionId"])
        assert (await client.answer(prompted))["stopReason"] == "end_turn"
        assert "hello {name}" in (server.repo / "greeting.py").read_text()


async def test_a_prompt_over_64_kb_is_refused_and_changes_nothing(plain_server: Server) -> None:
    async with acp_client(plain_server) as client:
        session = await client.open(plain_server.repo)
        for text in ("x" * 65_537, "ü" * 33_000):
            with pytest.raises(AcpError) as refused:
                await client.prompt(session, text)
            assert refused.value.name == "TOO_LARGE" and "65536" in str(refused.value)
        assert "agent_message_chunk" not in client.kinds()
        assert (await client.prompt(session, "greet"))["stopReason"] == "end_turn"
