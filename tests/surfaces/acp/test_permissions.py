"""Permission requests: who is asked, whose answer counts, and that an action is decided once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from codeplane.kernel.json import JsonObject
from codeplane.surfaces.cli.client_secret import ClientSecret
from tests.harness import Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, AcpClient, acp_client, prompt_params
from tests.surfaces.acp.conftest import FILES
from tests.surfaces.acp.test_turns import EDIT, only, waiting_action
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import Act, answer, openai_text, openai_tool, scripted_provider

pytestmark = requirement("ACP-07")

SHELL: JsonObject = {"command": "echo one", "justification": "to see"}
ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
REJECT = {"outcome": {"outcome": "selected", "optionId": "reject_once"}}
ASIDE = {"outcome": {"outcome": "cancelled"}}


@asynccontextmanager
async def asking_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *script: Act
) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    """A server that asks about every change, and the headers of a client that the owner lets answer."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    repo = make_repo(tmp_path / "repo", FILES)
    script = script or (answer(openai_tool("c", "write_files", EDIT)), answer(openai_text("Done.")))
    with scripted_provider(*script) as provider:
        server = start(
            repo,
            overrides=["trust.mode=always", providers(openai("local", provider.url)), *QUICK],
            environ={"XDG_CONFIG_HOME": str(tmp_path / "config")},
        )
        try:
            allowed = cpl("clients", "allow", "editor", cwd=repo, environ={"XDG_CONFIG_HOME": str(tmp_path / "config")})
            assert allowed.returncode == 0, allowed.stderr
            secret = ClientSecret.of(server.workspace, "editor").read()
            assert secret
            yield server, {"X-CodePlane-Client": secret}
        finally:
            server.stop()


def asked(client: AcpClient) -> list[dict[str, Any]]:
    return [message for message in client.heard if message.get("method") == "session/request_permission"]


def replying(result: Any) -> Any:
    async def reply(method: str, params: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return result

    return reply


@pytest.mark.parametrize(("outcome", "is_changed"), [(ALLOW, True), (REJECT, False)])
async def test_the_answer_of_an_allowed_client_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outcome: Any, is_changed: bool
) -> None:
    async with asking_server(tmp_path, monkeypatch) as (server, headers), acp_client(server, headers=headers) as client:
        client.on_request = replying(outcome)
        session = await client.open(server.repo)
        assert (await client.prompt(session, "greet them"))["stopReason"] == "end_turn"
        (request,) = asked(client)
        params = request["params"]
        assert params["sessionId"] == session
        assert {option["kind"] for option in params["options"]} == {"allow_once", "reject_once"}
        assert params["toolCall"]["toolCallId"] == only(client, "tool_call")[0]["toolCallId"]
        assert "greeting.py" in params["toolCall"]["content"][0]["content"]["text"]
        action = server.call("approval.show", action_id=params["_meta"]["codeplane"]["actionId"])["result"]
        assert isinstance(action, dict) and action["decided_by"] == "client:editor"
        assert ("hello {name}" in (server.repo / "greeting.py").read_text()) is is_changed


async def test_a_client_that_the_owner_did_not_allow_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = answer(openai_tool("c", "write_files", EDIT))
    async with asking_server(tmp_path, monkeypatch, edit) as (server, _):
        for headers in ({}, {"X-CodePlane-Client": "cpl_client_forged"}):
            async with acp_client(server, headers=headers) as client:
                client.on_request = replying(ALLOW)
                session = await client.open(server.repo)
                await client.start("session/prompt", prompt_params(session, "greet them"))
                await waiting_action(client)
                await client.notify("session/cancel", {"sessionId": session})
                await client.call("session/close", {"sessionId": session})
                assert asked(client) == []
        assert "hello {name}" not in (server.repo / "greeting.py").read_text()


async def test_a_shell_command_is_never_put_to_a_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = answer(openai_tool("c", "run_bash", SHELL)), answer(openai_text("Done."))
    async with (
        asking_server(tmp_path, monkeypatch, *script) as (server, headers),
        acp_client(server, headers=headers, query="?toolset=all") as client,
    ):
        client.on_request = replying(ALLOW)
        session = await client.open(server.repo)
        prompted = await client.start("session/prompt", prompt_params(session, "run it"))
        action_id = await waiting_action(client)
        server.call("approval.reject", action_id=action_id, reason="no")
        assert (await client.answer(prompted))["stopReason"] == "end_turn"
        assert asked(client) == []


async def test_what_is_decided_elsewhere_is_taken_back_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking_server(tmp_path, monkeypatch) as (server, headers), acp_client(server, headers=headers) as client:
        session = await client.open(server.repo)
        prompted = await client.start("session/prompt", prompt_params(session, "greet them"))
        request = (await client.until(lambda: asked(client)))[0]
        server.call("approval.approve", action_id=request["params"]["_meta"]["codeplane"]["actionId"])
        assert (await client.answer(prompted))["stopReason"] == "end_turn"
        taken_back = [m["params"]["requestId"] for m in client.heard if m.get("method") == "$/cancel_request"]
        assert taken_back == [request["id"]]
        # An answer that comes too late changes nothing.
        await client.send({"id": request["id"], "result": REJECT})
        assert "sessions" in await client.call("session/list")
        assert "hello {name}" in (server.repo / "greeting.py").read_text()


async def test_two_clients_are_asked_and_the_first_answer_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        asking_server(tmp_path, monkeypatch) as (server, headers),
        acp_client(server, headers=headers) as one,
        acp_client(server, headers=headers) as two,
    ):
        session = await one.open(server.repo)
        await two.call("initialize", HELLO)
        await two.call("session/resume", {"sessionId": session, "cwd": str(server.repo), "mcpServers": []})
        prompted = await one.start("session/prompt", prompt_params(session, "greet them"))
        (first,) = await one.until(lambda: asked(one))
        (second,) = await two.until(lambda: asked(two))
        await two.send({"id": second["id"], "result": REJECT})
        await one.answer(prompted)
        await one.send({"id": first["id"], "result": ALLOW})
        assert (await one.prompt(session, "and?"))["stopReason"] == "end_turn"
        assert "hello {name}" not in (server.repo / "greeting.py").read_text()


async def test_a_client_that_vanishes_is_asked_again_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking_server(tmp_path, monkeypatch) as (server, headers):
        async with acp_client(server, headers=headers) as client:
            session = await client.open(server.repo)
            await client.start("session/prompt", prompt_params(session, "greet them", messageId="m"))
            await client.until(lambda: asked(client))
            cursor = client.notices[-1]["_meta"]["codeplane"]["cursor"]
            await client.drop()
        pending = server.call("approval.list", status="PENDING")["result"]
        assert isinstance(pending, dict) and pending["pending"] == 1
        async with acp_client(server, headers=headers) as again:
            again.on_request = replying(ALLOW)
            await again.call("initialize", HELLO)
            opening = {"sessionId": session, "cwd": str(server.repo), "mcpServers": []}
            await again.call("session/resume", {**opening, "_meta": {"codeplane": {"cursor": cursor}}})
            assert (await again.prompt(session, "greet them", messageId="m"))["stopReason"] == "end_turn"
            assert len(asked(again)) == 1
        assert "hello {name}" in (server.repo / "greeting.py").read_text()


@pytest.mark.parametrize("nonsense", [ASIDE, {}, None, {"outcome": {"outcome": "selected", "optionId": "always"}}, []])
async def test_an_answer_that_is_none_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nonsense: Any
) -> None:
    async with asking_server(tmp_path, monkeypatch) as (server, headers), acp_client(server, headers=headers) as client:
        client.on_request = replying(nonsense)
        session = await client.open(server.repo)
        prompted = await client.start("session/prompt", prompt_params(session, "greet them"))
        action_id = await waiting_action(client)
        await client.until(lambda: asked(client))
        assert "sessions" in await client.call("session/list")
        shown = server.call("approval.show", action_id=action_id)["result"]
        assert isinstance(shown, dict) and shown["status"] == "PENDING"
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.answer(prompted))["stopReason"] == "cancelled"


async def test_cancelling_takes_the_question_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with asking_server(tmp_path, monkeypatch) as (server, headers), acp_client(server, headers=headers) as client:
        session = await client.open(server.repo)
        prompted = await client.start("session/prompt", prompt_params(session, "greet them"))
        (request,) = await client.until(lambda: asked(client))
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.answer(prompted))["stopReason"] == "cancelled"
        await client.send({"id": request["id"], "result": ALLOW})
        assert "sessions" in await client.call("session/list")
        assert "hello {name}" not in (server.repo / "greeting.py").read_text()
