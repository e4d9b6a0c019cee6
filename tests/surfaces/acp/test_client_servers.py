"""MCP servers of a client: proposed to the owner, started for one session, enclosed, and ended with it."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from codeplane.kernel.client_servers import ClientServer
from codeplane.kernel.json import JsonObject
from tests.harness import Server, make_repo, start, until
from tests.interaction.requirements import requirement
from tests.kernel.plane import OWNER
from tests.surfaces.acp.client import HELLO, AcpClient, acp_client, prompt_params
from tests.surfaces.acp.conftest import FILES
from tests.trust.approvals.agent_calls import refused, result
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import (
    Act,
    ReceivedRequest,
    ScriptedProvider,
    answer,
    openai_text,
    openai_tool,
    scripted_provider,
)
from tests.work.tools.published_servers import published
from tests.work.tools.tool_plane import SCRIPT, tool_plane

pytestmark = requirement("ACP-17")


def script(name: str = "notes", trick: str = "", **given: Any) -> dict[str, Any]:
    """The tests' own server, as a client sends it along."""
    return {"name": name, "command": sys.executable, "args": [str(SCRIPT), trick], "env": [], **given}


def offered(request: ReceivedRequest) -> list[str]:
    """The tools of servers that a model was shown."""
    tools: Any = request.body.get("tools") or []
    names = [str(tool["function"]["name"]) for tool in tools]
    return [name for name in names if name.startswith("ext_")]


def act_on(request: ReceivedRequest) -> Act:
    """`use look with text` calls the offered tool of that name; all else is repeated."""
    messages: Any = request.body["messages"]
    last = messages[-1]
    said = str(last["content"])
    if last["role"] == "tool" or not said.startswith("use "):
        return answer(openai_text(said[:200]))
    _, name, rest = said.split(" ", 2)
    arguments: JsonObject = {"text": rest} if not rest.startswith("{}") else {}
    return answer(openai_tool("c", next(tool for tool in offered(request) if tool.endswith(f"_{name}")), arguments))


@asynccontextmanager
async def serving(tmp_path: Path, *settings: str) -> AsyncIterator[tuple[Server, ScriptedProvider]]:
    repo = make_repo(tmp_path / "repo", FILES)
    with scripted_provider(answer(openai_text("Hello."))) as provider:
        provider.decide = act_on
        server = start(
            repo,
            overrides=[providers(openai("local", provider.url)), *QUICK, *settings],
            environ={"OWNERS_SECRET": "owners-very-secret-value"},
        )
        try:
            yield server, provider
        finally:
            server.stop()


async def opened(client: AcpClient, server: Server, *servers: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A new session with these servers, and the answer that opened it."""
    if not any(message.get("id") == 0 for message in client.heard):
        await client.call("initialize", HELLO)
    new = await client.call("session/new", {"cwd": str(server.repo), "mcpServers": list(servers)})
    return str(new["sessionId"]), new.get("_meta", {}).get("codeplane", {})


async def waiting(client: AcpClient, server: Server) -> str:
    """The action that starts a server, once the client was shown it."""
    await client.until(lambda: "waits for a person" in client.text("agent_thought_chunk"))
    found: Any = server.call("approval.list", status="PENDING")["result"]
    (action,) = [item for item in found["items"] if item["tool"] == "tools.start"]
    return str(action["action_id"])


async def approved(client: AcpClient, server: Server, *, trust: bool = False) -> None:
    """Let the owner agree, and wait until the client was shown that it runs."""
    action = await waiting(client, server)
    assert "error" not in server.call("approval.approve", action_id=action, trust=trust)
    await client.until(lambda: "MCP server of the client: " in client.text("agent_thought_chunk"))


def running(server: Server) -> list[dict[str, Any]]:
    """The servers of tools that there are now."""
    found: Any = server.call("tools.list")["result"]
    return list(found["servers"])


def processes(word: str) -> list[int]:
    """The processes that have a word among their arguments."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


async def test_it_starts_when_the_owner_agrees_and_ends_with_the_session(tmp_path: Path) -> None:
    mark = f"plain-{os.getpid()}"
    async with serving(tmp_path) as (server, provider), acp_client(server) as client:
        session, meta = await opened(client, server, script(trick=mark))
        assert meta == {"mcpServers": [{"name": "notes", "state": "asked"}]}
        action = await waiting(client, server)
        shown: Any = server.call("approval.show", action_id=action)["result"]
        assert shown["risk_class"] == "HIGH"
        assert f"argument: {SCRIPT}" in str(shown["preview"]) and f"reads: {SCRIPT.parent}" in str(shown["preview"])
        assert "no network" in str(shown["preview"])
        assert not processes(mark) and running(server) == []
        await client.prompt(session, "hello")
        assert offered(provider.requests[-1]) == []

        assert "error" not in server.call("approval.approve", action_id=action)
        await client.until(lambda: "notes: 3 tools" in client.text("agent_thought_chunk"))
        (entry,) = running(server)
        assert (entry["kind"], entry["sandbox"], entry["state"]) == ("client", "on", "ready")
        assert {tool["risk"] for tool in entry["tools"]} == {"unknown"}
        # A tool that nobody vouched for asks; one that the owner trusts does not.
        asked = await client.start("session/prompt", prompt_params(session, "use look one"))
        await client.until(lambda: "approvals approve" in str(client.updates[-1]))
        await client.notify("session/cancel", {"sessionId": session})
        assert (await client.answer(asked))["stopReason"] == "cancelled"
        assert "error" not in server.call("tools.trust", server=entry["name"])
        await client.prompt(session, "use look two")
        assert "look: two" in client.text()

        await client.call("session/close", {"sessionId": session})
        assert running(server) == []
        await asyncio.to_thread(until, lambda: not processes(mark))


async def test_its_tools_are_for_that_session_alone(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, provider), acp_client(server, query="?toolset=all") as client:
        session, _ = await opened(client, server, script())
        await approved(client, server)
        other, _ = await opened(client, server)
        await client.prompt(other, "hello")
        assert offered(provider.requests[-1]) == []
        await client.prompt(session, "hello")
        names = offered(provider.requests[-1])
        assert len(names) == 3
        for name in names:
            refusal: Any = server.call(name, text="x")["error"]
            assert refusal["error"] == "UNKNOWN_OPERATION"
        listing: Any = server.call("operation.list")["result"]
        assert not set(names) & {item["tool"] for item in listing["operations"]}


async def test_a_remembered_answer_covers_exactly_that_command_line(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, provider):
        async with acp_client(server) as client:
            await opened(client, server, script(env=[{"name": "LEVEL", "value": "1"}]))
            await approved(client, server, trust=True)
        await asyncio.to_thread(until, lambda: running(server) == [])
        async with acp_client(server) as client:
            session, _ = await opened(client, server, script(env=[{"name": "LEVEL", "value": "1"}]))
            # The first prompt waits for it.
            await client.prompt(session, "hello")
            assert len(offered(provider.requests[-1])) == 3
            for changed in (
                script(env=[{"name": "LEVEL", "value": "2"}]),
                script(trick="injects", env=[{"name": "LEVEL", "value": "1"}]),
                script(env=[{"name": "LEVEL", "value": "1"}, {"name": "API_TOKEN", "value": "abcdefgh"}]),
            ):
                async with acp_client(server) as another:
                    await opened(another, server, changed)
                    action = await waiting(another, server)
                    assert "error" not in server.call("approval.reject", action_id=action)
                    await another.until(lambda: "Not used: the MCP server" in another.text("agent_thought_chunk"))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (script(env=[{"name": "LD_PRELOAD", "value": "/tmp/x.so"}]), "LD_PRELOAD decides what runs outside"),
        (script(env=[{"name": "PATH", "value": "/tmp"}]), "PATH decides what runs outside"),
        (script(args=["HOME/.ssh/id"]), "is not shown to a client's server"),
        (script(args=["HOME"]), "is not shown to a client's server"),
        (script(args=["/"]), "is not shown to a client's server"),
        (script(command="REPO/run.sh", args=[]), "is in the repository, where agents write"),
        (script(command="there-is-no-such-program"), "is not on PATH"),
        ({"name": "far", "type": "sse", "url": "https://example.com/sse", "headers": []}, "SSE, is not spoken"),
        ({"name": "odd", "type": "http", "url": "file:///etc/passwd", "headers": []}, "url begins with http"),
    ],
)
async def test_what_cannot_be_enclosed_is_refused_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], reason: str
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("key")
    monkeypatch.setenv("HOME", str(home))
    async with serving(tmp_path) as (server, _), acp_client(server) as client:
        (server.repo / "run.sh").write_text("#!/bin/sh\n")
        (server.repo / "run.sh").chmod(0o755)
        places = {"HOME": str(home), "REPO": str(server.repo)}
        for word, place in places.items():
            given = {
                **given,
                **({"args": [arg.replace(word, place) for arg in given["args"]]} if "args" in given else {}),
                **({"command": given["command"].replace(word, place)} if "command" in given else {}),
            }
        _, meta = await opened(client, server, given)
        assert meta["unusedMcpServers"] == [given["name"]]
        (said,) = meta["mcpServers"]
        assert said["state"] == "refused" and reason in said["reason"] and said["hint"]
        await client.until(lambda: reason in client.text("agent_thought_chunk"))
        assert running(server) == []


async def test_the_owner_can_refuse_all_of_them(tmp_path: Path) -> None:
    async with serving(tmp_path, "tools.from_clients=off") as (server, _), acp_client(server) as client:
        _, meta = await opened(client, server, script())
        assert meta["mcpServers"][0]["reason"] == "tools.from_clients is off"
        assert "cpl tools add" in meta["mcpServers"][0]["hint"]


async def test_what_is_started_is_what_a_person_was_shown(tmp_path: Path) -> None:
    async with tool_plane(tmp_path, {}) as plane:
        server = ClientServer(name="notes", command=sys.executable, args=(str(SCRIPT), ""))
        (offer,) = await plane.tools.client_servers.offer("thr_1", "acp:1", [server])
        for lie in ({"args": ["--help"]}, {"server": "other"}, {"variables": ["A=1"]}, {"definition": "0" * 64}):
            assert refused(await plane.conveyor.call("tools.start", {**offer.arguments, **lie}, OWNER)) == "NOT_FOUND"
        await plane.tools.client_servers.withdraw("thr_1", "acp:2")
        assert result(await plane.conveyor.call("tools.start", offer.arguments, OWNER))["server"] == "notes"
        await plane.tools.client_servers.withdraw("thr_1", "acp:1")
        assert refused(await plane.conveyor.call("tools.start", offer.arguments, OWNER)) == "NOT_FOUND"


async def test_an_approval_after_the_session_starts_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, _):
        async with acp_client(server) as client:
            await opened(client, server, script())
            action = await waiting(client, server)
        assert "error" not in server.call("approval.approve", action_id=action)
        await asyncio.to_thread(until, lambda: _state(server, action) == "FAILED")
        assert running(server) == []


def _state(server: Server, action: str) -> str:
    shown = server.call("approval.show", action_id=action)["result"]
    assert isinstance(shown, dict)
    return str(shown["state"])


async def test_a_placeholder_of_a_client_stands_for_none_of_the_owners_secrets(tmp_path: Path) -> None:
    given = script(
        trick="steals_files",
        env=[{"name": "WANTED", "value": "${OWNERS_SECRET}"}, {"name": "ITS_TOKEN", "value": "its-own-token-value"}],
    )
    async with serving(tmp_path) as (server, provider), acp_client(server) as client:
        session, _ = await opened(client, server, given)
        action = await waiting(client, server)
        shown = server.call("approval.show", action_id=action)
        assert "its-own-token-value" not in str(shown) and "ITS_TOKEN, a secret" in str(shown)
        assert "error" not in server.call("approval.approve", action_id=action)
        await client.until(lambda: "MCP server of the client: " in client.text("agent_thought_chunk"))
        (entry,) = running(server)
        assert "error" not in server.call("tools.trust", server=entry["name"], risk="read")
        await client.prompt(
            session, f"use look env WANTED\nenv ITS_TOKEN\nwrite {server.repo}/x\nconnect 127.0.0.1:{server.port}"
        )
        said = str(provider.requests[-1].body["messages"])
        assert "env ${OWNERS_SECRET}" in said and "owners-very-secret-value" not in said
        # It has its own key, which no agent reads.
        assert "its-own-token-value" not in said and "env None" not in said
        assert "refused" in said and "connected" not in said and not (server.repo / "x").exists()


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_server_or_client_that_vanishes_during_a_call_ends_the_call(tmp_path: Path, leaves: bool) -> None:
    trick = "hangs" if leaves else "exits"
    async with serving(tmp_path) as (server, provider):
        async with acp_client(server) as client:
            session, _ = await opened(client, server, script(trick=trick))
            await approved(client, server)
            (entry,) = running(server)
            assert "error" not in server.call("tools.trust", server=entry["name"], risk="read")
            asked = await client.start("session/prompt", prompt_params(session, "use look now"))
            if not leaves:
                assert (await client.answer(asked))["stopReason"] == "end_turn"
                assert "TOOL_SERVER_UNAVAILABLE" in client.text()
                return
            await asyncio.to_thread(until, lambda: running(server)[0]["calls"] == 1)
            await client.drop()
        await asyncio.to_thread(until, lambda: len(provider.requests) > 1)
        said = str(provider.requests[-1].body["messages"])
        # Its end and the end of its tools are seen in either order.
        assert "OPERATION_GONE" in said or "TOOL_SERVER_UNAVAILABLE" in said
        assert running(server) == []


async def test_a_published_server_works_in_a_session(tmp_path: Path) -> None:
    known = published("filesystem", str(tmp_path / "repo"))
    given = {"name": "files", "command": known["command"], "args": known["args"], "env": []}
    async with serving(tmp_path) as (server, _), acp_client(server) as client:
        await opened(client, server, given)
        await approved(client, server)
        (entry,) = running(server)
        assert entry["state"] == "ready" and "read_text_file" in str(entry["tools"])


async def test_a_killed_server_leaves_no_program_of_a_client_behind(tmp_path: Path) -> None:
    mark = f"killed-{os.getpid()}"
    async with serving(tmp_path) as (server, _):
        async with acp_client(server) as client:
            session, _ = await opened(client, server, script(trick=mark))
            await approved(client, server)
            assert processes(mark)
            for number in range(20):
                await client.start("session/prompt", prompt_params(session, f"hello {number}"))
            server.kill()
            await client.until_closed()
        await asyncio.to_thread(until, lambda: not processes(mark))
