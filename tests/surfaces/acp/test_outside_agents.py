"""Sessions of ACP that an outside agent runs: an editor sees it work, and its person may answer there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codeplane.kernel.json import JsonValue, dumps
from codeplane.surfaces.cli.client_secret import ClientSecret
from tests.harness import CPL, Server, cpl, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, AcpError, acp_client
from tests.surfaces.acp.test_killed_shims import Shim
from tests.surfaces.acp.test_permissions import ALLOW, REJECT, asked, replying
from tests.surfaces.acp.test_turns import only
from tests.work.agents.agent_plane import FILES, NAME, scripted

pytestmark = requirement("ACP-19")

STEPS: list[list[JsonValue]] = [
    ["think", "It is too cheap. "],
    ["plan", "Raise the price", "Say so"],
    ["usage", 1200, 0.5],
    ["tool", "edit", "Edit shop.py", "shop.py", "price = 2\n"],
    ["fs_read", "/etc/passwd"],
    ["say", "Raised."],
]


@asynccontextmanager
async def agent_server(tmp_path: Path, *settings: str) -> AsyncIterator[tuple[Server, dict[str, str]]]:
    """A server with an outside agent, and the headers of a client that the owner lets answer."""
    repo, environ = make_repo(tmp_path / "repo", FILES), {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    overrides = [f"agents.acp={dumps({NAME: scripted()})}", f"jobs.trees={tmp_path / 'trees'}", *settings]
    server = start(repo, overrides=overrides, environ=environ)
    try:
        assert cpl("clients", "allow", "editor", cwd=repo, environ=environ).returncode == 0
        name = server.workspace.repo_id.read_text().strip()
        secret = ClientSecret(file=tmp_path / "config" / "codeplane" / "clients" / name / "editor.key").read()
        assert secret
        yield server, {"X-CodePlane-Client": secret}
    finally:
        server.stop()


@pytest.mark.parametrize(("outcome", "content"), [(ALLOW, "price = 2\n"), (REJECT, "price = 1\n")])
async def test_an_editor_sees_it_work_and_answers_what_it_asks(
    tmp_path: Path, outcome: dict[str, object], content: str
) -> None:
    asks = ("trust.mode=always", "trust.allow=[agent_tool.enter]")
    async with (
        agent_server(tmp_path, *asks) as (server, headers),
        acp_client(server, headers=headers, query=f"?agent={NAME}") as client,
    ):
        client.on_request = replying(outcome)
        session = await client.open(server.repo)
        assert (await client.prompt(session, dumps(STEPS)))["stopReason"] == "end_turn"
        assert client.text().endswith("Raised.")
        thoughts = client.text("agent_thought_chunk")
        assert "It is too cheap." in thoughts and "outside of its work tree" in thoughts
        (plan,) = only(client, "plan")
        assert [entry["content"] for entry in plan["entries"]] == ["Raise the price", "Say so"]
        assert (1200, 200_000) in [(one["used"], one["size"]) for one in only(client, "usage_update")]
        call = only(client, "tool_call")[0]
        assert (call["kind"], call["title"]) == ("edit", f"{NAME}.edit: Edit shop.py")
        (request,) = asked(client)
        assert request["params"]["toolCall"]["toolCallId"] == call["toolCallId"]
        assert "+price = 2" in request["params"]["toolCall"]["content"][0]["content"]["text"]
        # The checkout is as it was; the editor is told where the change waits.
        assert (server.repo / "shop.py").read_text() == "price = 1\n"
        diff = server.call("thread.diff", thread_id=session)["result"]
        assert isinstance(diff, dict) and bool(diff["files"]) is (content == "price = 2\n")
        assert (f"thread.diff thread_id={session}" in thoughts) is bool(diff["files"])
        if diff["files"]:
            assert "result" in server.call("thread.apply", thread_id=session)
        assert (server.repo / "shop.py").read_text() == content
        async with acp_client(server) as again:
            await again.call("initialize", HELLO)
            await again.call("session/load", {"sessionId": session, "cwd": str(server.repo), "mcpServers": []})
            assert (again.text(), again.text("agent_thought_chunk")) == (client.text(), thoughts)


async def test_one_that_is_not_there_is_named_and_opens_nothing(tmp_path: Path) -> None:
    async with agent_server(tmp_path) as (server, _), acp_client(server, query="?agent=nobody") as client:
        with pytest.raises(AcpError) as refused:
            await client.open(server.repo)
        assert "nobody" in str(refused.value)


async def test_an_editor_starts_it_by_name(tmp_path: Path) -> None:
    async with agent_server(tmp_path) as (server, _):
        shim = await Shim.start(CPL, "acp", "--agent", NAME, cwd=server.repo)
        session = await shim.open(server.repo)
        text = {"type": "text", "text": dumps([["say", "I run it."]])}
        prompted = await shim.send("session/prompt", {"sessionId": session, "prompt": [text]})
        assert (await shim.answer(prompted))["stopReason"] == "end_turn"
        shown = await asyncio.to_thread(server.call, "thread.show", thread_id=session)
        assert isinstance(shown["result"], dict) and shown["result"]["agent"] == NAME
        assert shim.process.stdin is not None
        shim.process.stdin.close()
        assert await shim.process.wait() == 0
