"""Files as an editor has them: unsaved text goes along with a prompt, and never stands for what is on disk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp import PROTOCOL_VERSION, resource_link_block, spawn_agent_process, text_block
from acp.interfaces import Client
from acp.schema import ClientCapabilities, FileSystemCapabilities, ReadTextFileResponse

from tests.harness import CPL, Server, make_repo, start
from tests.interaction.requirements import requirement
from tests.surfaces.acp.client import HELLO, AcpClient, acp_client
from tests.surfaces.acp.conftest import FILES
from tests.work.models.model_plane import QUICK, openai, providers
from tests.work.models.scripted_provider import ScriptedProvider, answer, openai_text, scripted_provider

pytestmark = requirement("ACP-18")

OFFER = {**HELLO, "clientCapabilities": {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}}
NOTE = "as the editor has it, not saved"


@asynccontextmanager
async def serving(tmp_path: Path, *settings: str) -> AsyncIterator[tuple[Server, ScriptedProvider]]:
    files = {**FILES, ".env": "API_TOKEN=abcdefgh12345678\n", "windows.py": "one = 1\r\ntwo = 2\r\n"}
    with scripted_provider(answer(openai_text("Seen."))) as provider:
        server = start(
            make_repo(tmp_path / "repo", files),
            overrides=[providers(openai("local", provider.url)), *QUICK, *settings],
        )
        try:
            yield server, provider
        finally:
            server.stop()


def buffers(texts: dict[str, Any]) -> Any:
    """An editor with these files open, by name."""

    async def reply(method: str, params: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        assert method == "fs/read_text_file", method
        return texts[Path(params["path"]).name]

    return reply


def requests(client: AcpClient) -> list[str]:
    return [message["params"]["path"] for message in client.heard if message.get("method") == "fs/read_text_file"]


async def prompted(client: AcpClient, server: Server, *names: str, hello: dict[str, Any] = OFFER) -> None:
    """A prompt that links to files."""
    await client.call("initialize", hello)
    session = (await client.call("session/new", {"cwd": str(server.repo), "mcpServers": []}))["sessionId"]
    links = [{"type": "resource_link", "name": name, "uri": f"file://{server.repo}/{name}"} for name in names]
    prompt = [{"type": "text", "text": "what is in these?"}, *links]
    assert (await client.call("session/prompt", {"sessionId": session, "prompt": prompt}))["stopReason"] == "end_turn"


def seen(provider: ScriptedProvider) -> str:
    """What the model was told last."""
    messages: Any = provider.requests[-1].body["messages"]
    return str(messages[-1]["content"])


async def test_unsaved_text_goes_along_and_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, provider), acp_client(server) as client:
        client.on_request = buffers(
            {
                "greeting.py": {"content": "def greet(name):\n    return name.upper()  # ```\n"},
                "README.md": {"content": "# Greetings\n"},
                "windows.py": {"content": "one = 1\ntwo = 2\n"},
            }
        )
        await prompted(client, server, "greeting.py", "README.md", "windows.py")
        assert f"greeting.py {NOTE}; tools read what is on disk:\n````\ndef greet" in seen(provider)
        assert seen(provider).count(NOTE) == 1 and "name.upper()" in seen(provider)
        assert "upper" not in (server.repo / "greeting.py").read_text()


async def test_what_the_caller_may_not_read_is_not_asked_for(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, provider), acp_client(server) as client:
        client.on_request = buffers({})
        (server.repo / "link.py").symlink_to("/etc/passwd")
        await prompted(client, server, ".env", "../other.py", "missing.py", ".git/config", "link.py")
        assert requests(client) == [] and NOTE not in seen(provider)


@pytest.mark.parametrize(
    "broken",
    [{}, {"content": 7}, {"content": None}, ["x"], {"content": "nul \0"}],
    ids=["nothing", "number", "null", "list", "nul"],
)
async def test_an_editor_that_answers_badly_changes_nothing(tmp_path: Path, broken: Any) -> None:
    async with serving(tmp_path) as (server, provider), acp_client(server) as client:
        client.on_request = buffers({"greeting.py": broken})
        await prompted(client, server, "greeting.py")
        assert len(requests(client)) == 1 and NOTE not in seen(provider)


async def test_an_editor_that_does_not_answer_keeps_no_prompt_waiting(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, provider), acp_client(server) as client:
        await prompted(client, server, "greeting.py")
        assert len(requests(client)) == 1 and NOTE not in seen(provider)
        assert any(message.get("method") == "$/cancel_request" for message in client.heard)


async def test_long_text_is_named_and_not_shown(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, provider), acp_client(server) as client:
        client.on_request = buffers({"greeting.py": {"content": "x" * 40_000}})
        await prompted(client, server, "greeting.py")
        assert "its text there, 40000 bytes, is not shown" in seen(provider) and "xxxx" not in seen(provider)


@pytest.mark.parametrize("settings", [("turns.unsaved_files=false",), ()])
async def test_nothing_is_read_where_it_is_not_offered_or_not_allowed(
    tmp_path: Path, settings: tuple[str, ...]
) -> None:
    async with serving(tmp_path, *settings) as (server, provider), acp_client(server) as client:
        client.on_request = buffers({"greeting.py": {"content": "unsaved"}})
        await prompted(client, server, "greeting.py", hello=OFFER if settings else HELLO)
        assert requests(client) == [] and "unsaved" not in seen(provider)


class Editor:
    """The SDK's client, with one file open."""

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        pass

    async def read_text_file(self, path: str, session_id: str, **more: Any) -> ReadTextFileResponse:
        return ReadTextFileResponse(content="def greet(name):\n    return 'from the editor'\n")

    def on_connect(self, conn: Any) -> None:
        pass


async def test_with_the_sdk_of_the_protocol(tmp_path: Path) -> None:
    async with serving(tmp_path) as (server, provider):
        client: Client = Editor()  # type: ignore[assignment]  # it has what is called
        async with spawn_agent_process(client, CPL, "acp", cwd=server.repo) as (agent, _):
            await agent.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True)),
            )
            session = await agent.new_session(cwd=str(server.repo), mcp_servers=[])
            link = resource_link_block("greeting.py", f"file://{server.repo}/greeting.py")
            await agent.prompt(prompt=[text_block("what does it say?"), link], session_id=session.session_id)
        assert NOTE in seen(provider) and "from the editor" in seen(provider)
